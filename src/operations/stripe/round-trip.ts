import { setTimeout as sleep } from 'node:timers/promises'
import type Stripe from 'stripe'
import { randomToken } from '../../platform/crypto/secrets.ts'
import { minimumChargeMinor } from '../../platform/money.ts'
import type { ShopContext } from '../../shop/context.ts'
import type { ProbeDelivery } from '../../shop/payments/schema.ts'
import { closeProbe, openProbe, probeDeliveries } from '../../shop/payments/webhook-probes.ts'
import { setting } from '../../shop/settings/settings.ts'

/** A delivery that arrived; `isVerified`: signed with the secret in question. */
export type Arrival = { isVerified: boolean; isAccepted: boolean }

type RoundTrip = {
  /** The secret that the deliveries should be signed with; undefined when it is not known. */
  secret: string | undefined
  /** How many enabled endpoints deliver to this address. */
  endpoints: number
  waitMs: number
}

const lookEveryMs = 200

/**
 * Makes Stripe deliver an event to the shop: it creates a Checkout Session that is never shown, expires it, and waits for
 * `checkout.session.expired`. The server stores each delivery, also one that it refuses, because its own secret may be
 * another one. Nothing is charged.
 *
 * @returns what arrived, at the latest after `waitMs`
 * @throws the error of stripe-node when Stripe refuses the session
 */
export async function makeRoundTrip(shop: ShopContext, stripe: Stripe, trip: RoundTrip): Promise<Arrival[]> {
  const token = `probe-${randomToken()}`
  await openProbe(shop, token)
  try {
    const { id } = await stripe.checkout.sessions.create(testSession(shop, token))
    await stripe.checkout.sessions.expire(id)
    const endsAt = performance.now() + trip.waitMs
    for (;;) {
      const arrivals = probeDeliveries(shop.db, token).map((delivery) => read(stripe, delivery, trip.secret))
      const isComplete = arrivals.some(({ isVerified }) => isVerified) || arrivals.length >= trip.endpoints
      if (isComplete || performance.now() >= endsAt) return arrivals
      await sleep(lookEveryMs)
    }
  } finally {
    await closeProbe(shop, token)
  }
}

function testSession({ db, publicUrl }: ShopContext, token: string): Stripe.Checkout.SessionCreateParams {
  const currency = setting(db, 'shop.currency')
  const unit_amount = Math.max(minimumChargeMinor(currency), 1_000)
  const price_data = { currency: currency.toLowerCase(), unit_amount, product_data: { name: 'Webhook test' } }
  return {
    mode: 'payment',
    line_items: [{ price_data, quantity: 1 }],
    metadata: { shopstead_probe: token },
    success_url: publicUrl()
  }
}

function read(stripe: Stripe, { body, signature, isAccepted }: ProbeDelivery, secret: string | undefined): Arrival {
  return { isAccepted, isVerified: secret !== undefined && isSignedWith(stripe, body, signature, secret) }
}

function isSignedWith(stripe: Stripe, body: string, signature: string, secret: string): boolean {
  try {
    stripe.webhooks.constructEvent(body, signature, secret)
    return true
  } catch {
    return false
  }
}

/** Why a post to the shop's webhook address does not reach the shop, as seen from this machine; undefined if it does. */
export async function whyUnreachable(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      body: '{}',
      redirect: 'manual',
      signal: AbortSignal.timeout(5_000)
    })
    const body = (await answer.json().catch(() => ({}))) as { error?: { code?: unknown } }
    const isShop = ['WEBHOOK_SIGNATURE_INVALID', 'CHECKOUT_GATEWAY_NOT_CONFIGURED'].includes(String(body.error?.code))
    return isShop ? undefined : `it answers with status ${answer.status}, which is not the shop's answer`
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return cause instanceof Error ? cause.message : 'it does not answer'
  }
}
