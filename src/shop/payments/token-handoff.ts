import type Stripe from 'stripe'
import { write } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { updateAttempt } from './attempts.ts'
import { metadataOf } from './checkout-page.ts'
import { startDeadline } from './deadline.ts'
import type { Deadline } from './deadline.ts'
import { checkoutFailed, readGatewayError } from './gateway-failure.ts'
import type { GatewayFailure, GatewayStep } from './gateway-failure.ts'
import { readyGateway } from './gateway.ts'
import { stateOfIntent } from './gateway-state.ts'
import type { GatewayState } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'
import { failAttempt, settleAttempt } from './settle.ts'

/** What the buyer's site handed over, and where the bank sends the buyer back to. */
export type Handoff = { paymentToken: string; returnUrl: string }

/**
 * Pays an order in two steps, each with its own key: create the PaymentIntent and save its id, then confirm it with
 * `return_url`. The outcome is saved before it is told.
 *
 * @throws AppError CHECKOUT_FAILED: 402 refused, 502 broken without a charge, 504 unknown (the order stays pending and
 *   is reconciled).
 */
export async function payByToken(shop: ShopContext, attempt: AttemptRow, handoff: Handoff): Promise<GatewayState> {
  const stripe = await readyGateway(shop).client()
  const deadline = startDeadline()
  const created = await step(shop, stripe, attempt, 'create_intent', deadline, () =>
    createIntent(shop, stripe, attempt, handoff, deadline)
  )
  write(shop.db, (tx) =>
    updateAttempt(
      tx,
      attempt.id,
      { objectId: created.id, paymentIntentId: created.id, gatewayStatus: created.status },
      shop.clock.now()
    )
  )
  const known: AttemptRow = { ...attempt, objectId: created.id, paymentIntentId: created.id }
  const confirmed = await step(shop, stripe, known, 'confirm_intent', deadline, () =>
    confirmIntent(stripe, known, created, handoff, deadline)
  )
  const state = stateOfIntent(confirmed)
  settleAttempt(shop, attempt.id, state, 'checkout')
  return state
}

function createIntent(
  shop: ShopContext,
  stripe: Stripe,
  attempt: AttemptRow,
  { paymentToken }: Handoff,
  deadline: Deadline
): Promise<Stripe.PaymentIntent> {
  const { email } = getOrder(shop.db, attempt.orderId)
  return deadline.call(({ timeout }) =>
    stripe.paymentIntents.create(
      {
        amount: attempt.amountMinor,
        currency: attempt.currency.toLowerCase(),
        automatic_payment_methods: { enabled: true },
        metadata: metadataOf(attempt),
        description: `Order ${attempt.orderId}`,
        ...(email === null ? {} : { receipt_email: email }),
        ...paymentMethod(paymentToken)
      },
      { idempotencyKey: attempt.createKey, timeout }
    )
  )
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

async function confirmIntent(
  stripe: Stripe,
  attempt: AttemptRow,
  intent: Stripe.PaymentIntent,
  handoff: Handoff,
  deadline: Deadline
): Promise<Stripe.PaymentIntent> {
  // The same key replays a create that already went on to succeed.
  if (intent.status === 'succeeded' || intent.status === 'processing') return intent
  return deadline.call(({ timeout }) =>
    stripe.paymentIntents.confirm(
      intent.id,
      {
        return_url: handoff.returnUrl,
        ...(handoff.paymentToken.startsWith('ctoken_') ? { confirmation_token: handoff.paymentToken } : {})
      },
      { idempotencyKey: attempt.confirmKey, timeout }
    )
  )
}

/** Runs one step; when it fails, finds out whether anything was charged before it says so. */
async function step(
  shop: ShopContext,
  stripe: Stripe,
  attempt: AttemptRow,
  name: GatewayStep,
  deadline: Deadline,
  work: () => Promise<Stripe.PaymentIntent>
): Promise<Stripe.PaymentIntent> {
  try {
    return await work()
  } catch (error) {
    const failure = readGatewayError(error)
    // An intent that was never confirmed charges nobody, so an answer to create, whatever it says, is a certain one.
    if (name === 'create_intent')
      throw settleFailure(shop, attempt, name, failure.answered ? asBroken(failure) : failure)
    if (failure.kind !== 'unknown') throw settleFailure(shop, attempt, name, failure)
    const current = await lookAgain(shop, stripe, attempt, failure.answered, deadline)
    if (current === undefined) throw settleFailure(shop, attempt, name, failure)
    if (current.status !== 'canceled') return current
    throw settleFailure(shop, attempt, name, asBroken(failure))
  }
}

function asBroken(failure: GatewayFailure): GatewayFailure {
  return failure.kind === 'unknown' ? { ...failure, kind: 'broken' } : failure
}

/**
 * After a confirm that failed without saying how: the intent itself tells whether it went through. One that did not is
 * cancelled when the gateway had answered, so that nothing can charge after the buyer was told that it failed; when the
 * line was broken it is left to the reconciler, since the confirm may still be on its way.
 *
 * @returns the intent when its outcome is certain, undefined when it is not
 */
async function lookAgain(
  shop: ShopContext,
  stripe: Stripe,
  attempt: AttemptRow,
  answered: boolean,
  deadline: Deadline
): Promise<Stripe.PaymentIntent | undefined> {
  const { objectId } = attempt
  if (objectId === null) return undefined
  try {
    const current = await deadline.call(({ timeout }) => stripe.paymentIntents.retrieve(objectId, {}, { timeout }))
    const { verdict } = stateOfIntent(current)
    if (verdict !== 'open' && verdict !== 'failed') return current
    return answered
      ? await deadline.call(({ timeout }) => stripe.paymentIntents.cancel(objectId, {}, { timeout }))
      : undefined
  } catch (error) {
    shop.log.warn('a payment could not be looked up', {
      orderId: attempt.orderId,
      kind: readGatewayError(error).error.type
    })
    return undefined
  }
}

/** A failure that is known fails the order; one that is not leaves it pending for the reconciler. */
function settleFailure(shop: ShopContext, attempt: AttemptRow, name: GatewayStep, failure: GatewayFailure) {
  const now = shop.clock.now()
  if (failure.kind !== 'unknown') {
    write(shop.db, (tx) =>
      failAttempt(tx, attempt.id, `the payment failed: ${failure.error.code ?? failure.error.type}`, now)
    )
  }
  shop.log.warn('a payment failed', {
    orderId: attempt.orderId,
    step: name,
    kind: failure.kind,
    code: failure.error.code,
    gatewayRequestId: failure.requestId
  })
  return checkoutFailed(failure, name, attempt.orderId)
}
