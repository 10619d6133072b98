import type Stripe from 'stripe'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { isStorageError } from '../../platform/db/storage-errors.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { getAttempt, takeUpAttempt, updateAttempt } from './attempts.ts'
import { metadataOf } from './metadata.ts'
import { startDeadline } from './deadline.ts'
import { checkoutFailed } from './gateway-failure.ts'
import { readyGateway } from './gateway.ts'
import { stateOfIntent } from './gateway-state.ts'
import type { GatewayState } from './gateway-state.ts'
import { afterFailedConfirm, afterFailedCreate, findIntent, nothingCharged, settleFailure } from './handoff-failure.ts'
import type { Way } from './handoff-failure.ts'
import type { AttemptRow } from './rows.ts'
import { settleAttempt } from './settle.ts'

/** What the buyer's site handed over, and where the bank sends the buyer back to. */
export type Handoff = { paymentToken: string; returnUrl: string }

/**
 * Pays an order in two steps, each with its own key: create the PaymentIntent and save its id, then confirm it with
 * `return_url`. The outcome is saved before it is told. Called again for the same attempt it goes on where the first
 * call broke off, or tells what has become of it since.
 *
 * @throws AppError CHECKOUT_FAILED: 402 refused, 502 broken without a charge, 504 unknown (the order stays pending and
 *   is reconciled).
 */
export async function payByToken(shop: ShopContext, { id }: AttemptRow, handoff: Handoff): Promise<GatewayState> {
  const stripe = await readyGateway(shop).client()
  const attempt = await takeUpAttempt(shop, id)
  const way: Way = { shop, stripe, deadline: startDeadline(), attempt }
  if (attempt.objectId === null && attempt.outcome !== null) throw checkoutFailed(nothingCharged, 'create_intent')
  const intent = attempt.objectId === null ? await createIntent(way, handoff.paymentToken) : await findIntent(way)
  const claimed = { ...way, attempt: await claim(way, intent) }
  const state = intent.verdict === 'open' ? await confirmIntent(claimed, intent, handoff) : intent
  await saveOutcome(claimed, state)
  if (state.verdict === 'failed') throw checkoutFailed(state.failure ?? nothingCharged, 'confirm_intent')
  return state
}

/**
 * Saves what the gateway said. Where the database does not take it the outcome is unknown to the shop, and told as such:
 * a buyer who is asked to try again would pay twice. The reconciler finds it out.
 */
async function saveOutcome({ shop, attempt }: Way, state: GatewayState): Promise<void> {
  try {
    await settleAttempt(shop, attempt.id, state, 'checkout')
  } catch (error) {
    if (!isStorageError(error)) throw error
    shop.log.error('an outcome could not be saved', { orderId: attempt.orderId, error: describeError(error) })
    throw checkoutFailed({ ...nothingCharged, kind: 'unknown' }, 'confirm_intent')
  }
}

async function createIntent(way: Way, paymentToken: string): Promise<GatewayState> {
  const { stripe, deadline, attempt } = way
  try {
    const created = await deadline.call(({ timeout }) =>
      stripe.paymentIntents.create(
        {
          amount: attempt.amountMinor,
          currency: attempt.currency.toLowerCase(),
          automatic_payment_methods: { enabled: true },
          metadata: metadataOf(way.shop, attempt),
          description: `Order ${attempt.orderId}`,
          ...paymentMethod(paymentToken)
        },
        { idempotencyKey: attempt.createKey, timeout }
      )
    )
    return stateOfIntent(created)
  } catch (error) {
    throw await afterFailedCreate(way, error)
  }
}

/** A confirmation token is only taken by the second step; a card token travels as the data of a new payment method. */
function paymentMethod(
  token: string
): Pick<Stripe.PaymentIntentCreateParams, 'payment_method' | 'payment_method_data'> {
  if (token.startsWith('ctoken_')) return {}
  if (token.startsWith('tok_'))
    return {
      payment_method_data: { type: 'card', card: { token } } as Stripe.PaymentIntentCreateParams.PaymentMethodData
    }
  return { payment_method: token }
}

/**
 * Saves the intent's id before anything can be charged. An order that was given up while the gateway was asked (by the
 * reconciler, an operator, the end of its hold) is not paid any more.
 */
async function claim({ shop, attempt: { id } }: Way, intent: GatewayState): Promise<AttemptRow> {
  const { objectId, paymentIntentId, status: gatewayStatus } = intent
  const { attempt, wanted } = await writeWhenFree(shop.db, (tx) => {
    const { outcome, orderId } = getAttempt(tx, id)
    const isWanted = outcome === null && getOrder(tx, orderId).status === 'pending'
    if (isWanted) updateAttempt(tx, id, { objectId, paymentIntentId, gatewayStatus }, shop.clock.now())
    return { attempt: getAttempt(tx, id), wanted: isWanted }
  })
  if (!wanted && intent.verdict === 'open') throw await settleFailure(shop, attempt, 'confirm_intent', nothingCharged)
  return attempt
}

async function confirmIntent(way: Way, { objectId }: GatewayState, handoff: Handoff): Promise<GatewayState> {
  const { stripe, attempt, deadline } = way
  const { paymentToken, returnUrl } = handoff
  try {
    const confirmed = await deadline.call(({ timeout }) =>
      stripe.paymentIntents.confirm(
        objectId,
        {
          return_url: returnUrl,
          // A guest who gave no email may have given the card one.
          expand: ['payment_method'],
          ...(paymentToken.startsWith('ctoken_') ? { confirmation_token: paymentToken } : {})
        },
        { idempotencyKey: attempt.confirmKey, timeout }
      )
    )
    return stateOfIntent(confirmed)
  } catch (error) {
    return afterFailedConfirm(way, error)
  }
}
