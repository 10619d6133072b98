import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { applyEvent } from './apply-event.ts'
import type { EventOutcome } from './apply-event.ts'
import { readEvent } from './gateway-event.ts'
import { readyGateway } from './gateway.ts'
import { countAccepted, countRefused } from './signature-count.ts'
import { isProbeOpen, recordDelivery } from './webhook-probes.ts'

/** How far a delivery's timestamp may differ from the clock, in either direction. */
const toleranceSeconds = 300

/**
 * Refuses a delivery that cannot be accepted whatever its body contains. Without the secret, a delivery is read only while
 * `shopstead stripe setup` waits for one.
 *
 * @throws AppError CHECKOUT_GATEWAY_NOT_CONFIGURED, WEBHOOK_SIGNATURE_INVALID for a missing signature
 */
export function assertDeliverable(shop: ShopContext, signature: string | null): void {
  readyGateway(shop)
  if (!isProbeOpen(shop)) webhookSecretOf(shop)
  if (!signature) throw new AppError('WEBHOOK_SIGNATURE_INVALID', 'The header Stripe-Signature is missing.')
}

function webhookSecretOf({ cards }: ShopContext): string {
  const secret = cards?.webhookSecret
  if (secret === undefined) throw new AppError('CHECKOUT_GATEWAY_NOT_CONFIGURED', 'The webhook secret is not set.')
  return secret
}

/**
 * Receives one webhook delivery: verifies the signature, fetches the object, and applies it in one transaction with its
 * inbox row.
 *
 * @throws AppError WEBHOOK_SIGNATURE_INVALID, VALIDATION_FAILED, CHECKOUT_GATEWAY_NOT_CONFIGURED. After any other error
 *   the gateway delivers again.
 */
export async function receiveWebhook(
  shop: ShopContext,
  rawBody: string,
  signature: string | null
): Promise<EventOutcome> {
  const stripe = await readyGateway(shop).client()
  const signed = await verifyAndCount(shop, stripe, rawBody, signature ?? '')
  return applyEvent(shop, stripe, readEvent(signed), 'webhook')
}

/** A delivery without any signature is not Stripe's, so it says nothing about the secret. */
async function verifyAndCount(shop: ShopContext, stripe: Stripe, body: string, signature: string): Promise<unknown> {
  try {
    const signed = verify(shop, stripe, body, signature)
    await countAccepted(shop)
    await recordDelivery(shop, { body, signature, isAccepted: true })
    return signed
  } catch (error) {
    if (signature !== '') await recordDelivery(shop, { body, signature, isAccepted: false })
    if (signature !== '' && shop.cards?.webhookSecret !== undefined) await countRefused(shop)
    throw error
  }
}

function verify(shop: ShopContext, stripe: Stripe, rawBody: string, signature: string): unknown {
  const secret = webhookSecretOf(shop)
  const now = shop.clock.now()
  try {
    assertNotAhead(signature, now)
    return stripe.webhooks.constructEvent(rawBody, signature, secret, toleranceSeconds, undefined, now)
  } catch (error) {
    throw new AppError(
      'WEBHOOK_SIGNATURE_INVALID',
      'The webhook signature is not valid.',
      {},
      { cause: describeError(error) }
    )
  }
}

/** stripe-node refuses old timestamps but accepts future ones, and reads the last of several timestamps. */
function assertNotAhead(signature: string, now: number): void {
  const times = signature.split(',').filter((part) => part.startsWith('t='))
  const signedAt = /^t=\d{1,12}$/.test(times.join()) ? Number(times.join().slice('t='.length)) : Number.NaN
  if (!(signedAt - Math.floor(now / 1000) <= toleranceSeconds))
    throw new Error('the timestamp is missing or ahead of the clock')
}
