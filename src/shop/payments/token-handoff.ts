import type Stripe from 'stripe'
import { writeWhenFree } from '../../platform/db/database.ts'
import { isStorageError } from '../../platform/db/storage-errors.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { getAttempt, takeUpAttempt, updateAttempt, unanswered } from './attempts.ts'
import { billingDetails, methodConfiguration, paymentDetails, keyFor, payAsCustomer } from './gateway-customer.ts'
import { metadataOf, stateOfIntent, isAtTheBank, callOff, lookUp } from './gateway-state.ts'
import { startDeadline, checkoutFailed, readyGateway, emailRefused, readGatewayError } from './gateway.ts'
import type { GatewayState } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'
import { settleAttempt, failAttempt } from './settle.ts'
import type { Deadline, GatewayFailure, GatewayStep } from './gateway.ts'
import { isObject } from '../../platform/typed.ts'

/** The payment token from the site, and its address to which the bank returns the buyer, exactly as sent. */
export type Handoff = { paymentToken: string; returnUrl: string }

/**
 * Pays an order in two steps, each with its own idempotency key: creates the PaymentIntent and stores its id, then confirms
 * it with `return_url`. The outcome is stored before it is returned. A second call for the same attempt continues where
 * the first one stopped, or returns its outcome.
 *
 * @throws AppError CHECKOUT_FAILED: 402 refused, 502 broken without a charge, 504 unknown (the order stays pending and
 *   is reconciled).
 */
export async function payByToken(shop: ShopContext, { id }: AttemptRow, handoff: Handoff): Promise<GatewayState> {
  const { paymentToken } = handoff
  const stripe = await readyGateway(shop).client()
  const attempt = await takeUpAttempt(shop, id)
  const run: HandoffRun = { shop, stripe, deadline: startDeadline(), attempt, paymentToken }
  if (attempt.objectId === null && attempt.outcome !== null) throw checkoutFailed(nothingCharged, 'create_intent')
  const intent = attempt.objectId === null ? await createIntent(run) : await findIntent(run)
  const claimed = { ...run, attempt: await claim(run, intent) }
  const state = intent.verdict === 'open' ? await confirmIntent(claimed, intent, handoff.returnUrl) : intent
  await saveOutcome(claimed, state)
  if (state.verdict === 'failed') throw checkoutFailed(state.failure ?? nothingCharged, 'confirm_intent')
  return state
}

/**
 * Stores the outcome. If the database fails, the outcome is reported as unknown, because a buyer who tries again would pay
 * twice; the reconciler stores it later.
 */
async function saveOutcome({ shop, attempt }: HandoffRun, state: GatewayState): Promise<void> {
  try {
    await settleAttempt(shop, attempt.id, state, 'checkout')
  } catch (error) {
    if (!isStorageError(error)) throw error
    shop.log.error('an outcome could not be saved', { orderId: attempt.orderId, error: describeError(error) })
    throw checkoutFailed({ ...nothingCharged, kind: 'unknown' }, 'confirm_intent')
  }
}

async function createIntent(run: HandoffRun): Promise<GatewayState> {
  const { shop, stripe, deadline, attempt, paymentToken } = run
  const order = getOrder(shop.db, attempt.orderId)
  try {
    const params: Stripe.PaymentIntentCreateParams = {
      amount: attempt.amountMinor,
      currency: attempt.currency.toLowerCase(),
      automatic_payment_methods: { enabled: true },
      metadata: metadataOf(shop, attempt),
      description: `Order ${attempt.orderId}`,
      ...paymentMethod(paymentToken, order),
      ...paymentDetails(shop, order),
      ...methodConfiguration(shop)
    }
    const created = await payAsCustomer(shop, order, { stripe, deadline }, (customer) =>
      deadline.call(({ timeout }) =>
        stripe.paymentIntents.create(
          { ...params, ...(customer === null ? {} : { customer }) },
          { idempotencyKey: keyFor(attempt.createKey, customer), timeout }
        )
      )
    )
    return stateOfIntent(created)
  } catch (error) {
    throw await afterFailedCreate(run, error)
  }
}

/** A confirmation token belongs to the second step; a card token is sent as the data of a new payment method. */
function paymentMethod(
  token: string,
  order: OrderRow
): Pick<Stripe.PaymentIntentCreateParams, 'payment_method' | 'payment_method_data'> {
  if (token.startsWith('ctoken_')) return {}
  if (token.startsWith('tok_'))
    return {
      payment_method_data: {
        type: 'card',
        card: { token },
        billing_details: billingDetails(order)
      } as Stripe.PaymentIntentCreateParams.PaymentMethodData
    }
  return { payment_method: token }
}

/**
 * Stores the intent's id before anything can be charged. An order that was given up in the meantime (by the reconciler, an
 * operator or the end of its hold) is not paid.
 */
async function claim({ shop, attempt: { id } }: HandoffRun, intent: GatewayState): Promise<AttemptRow> {
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

async function confirmIntent(run: HandoffRun, { objectId }: GatewayState, returnUrl: string): Promise<GatewayState> {
  const { stripe, attempt, deadline, paymentToken } = run
  try {
    const confirmed = await deadline.call(({ timeout }) =>
      stripe.paymentIntents.confirm(
        objectId,
        {
          return_url: returnUrl,
          // A guest without an email may have an email on the payment method.
          expand: ['payment_method'],
          ...(paymentToken.startsWith('ctoken_') ? { confirmation_token: paymentToken } : {})
        },
        { idempotencyKey: attempt.confirmKey, timeout }
      )
    )
    return stateOfIntent(confirmed)
  } catch (error) {
    return afterFailedConfirm(run, error)
  }
}

/** What every step of one token_handoff payment needs. */
export type HandoffRun = {
  shop: ShopContext
  stripe: Stripe
  deadline: Deadline
  attempt: AttemptRow
  paymentToken: string
}

/** The payment was given up before anything was charged, without an error of the gateway. */
export const nothingCharged: GatewayFailure = {
  kind: 'broken',
  answered: true,
  temporary: false,
  missing: false,
  error: { type: '', decline_code: null, param: '', message: '' },
  requestId: ''
}

/** The error after a failed creation. An intent that was not confirmed charges nothing, so any answer is final. */
export function afterFailedCreate({ shop, attempt, paymentToken }: HandoffRun, error: unknown): Promise<Error> {
  const failure = readGatewayError(error, paymentToken)
  return settleFailure(shop, attempt, 'create_intent', failure.answered ? asKnown(failure) : failure)
}

/**
 * The state of the intent after a failed confirmation. Without an answer the confirmation may still reach the gateway, so
 * the reconciler settles it. With an answer, only the intent tells whether it was charged: an intent that can still be
 * paid is called off before the buyer learns of the failure, or the buyer might pay twice.
 *
 * @throws AppError CHECKOUT_FAILED
 */
export async function afterFailedConfirm(run: HandoffRun, error: unknown): Promise<GatewayState> {
  const { shop, stripe, attempt, paymentToken } = run
  const failure = readGatewayError(error, paymentToken)
  const failed = (known: GatewayFailure): Promise<Error> => settleFailure(shop, attempt, 'confirm_intent', known)
  if (!failure.answered) throw await failed(asUnknown(failure))
  if (failure.kind === 'refused' && saysDeclined(error)) throw await failed(failure)
  const state = await findIntent(run, failure)
  if (state.verdict !== 'open' && state.verdict !== 'failed') return state
  if (state.verdict === 'failed') throw await failed(asKnown(failure))
  const ended = await ask(run, failure, (options) => callOff(stripe, attempt, options))
  if (ended === undefined || ended.verdict === 'failed') throw await failed(asKnown(failure))
  return ended
}

/** The current state of the intent; `failure` is thrown when the gateway does not answer. */
export async function findIntent(run: HandoffRun, failure?: GatewayFailure): Promise<GatewayState> {
  const state = await ask(run, failure, (options) => lookUp(run.stripe, run.attempt, options))
  if (state === undefined) throw new Error(`payment attempt ${run.attempt.id} has no intent`)
  return state
}

async function ask<T>(
  { shop, attempt, deadline, paymentToken }: HandoffRun,
  failure: GatewayFailure | undefined,
  work: (options: { timeout: number }) => Promise<T>
): Promise<T> {
  try {
    return await deadline.call(work)
  } catch (error) {
    throw await settleFailure(
      shop,
      attempt,
      'confirm_intent',
      asUnknown(failure ?? readGatewayError(error, paymentToken))
    )
  }
}

/** Whether a card error carries an intent that can be paid again, which proves that nothing was charged. */
function saysDeclined(error: unknown): boolean {
  const intent = isObject(error) ? error['payment_intent'] : undefined
  return isObject(intent) && intent['status'] === 'requires_payment_method'
}

function asKnown(failure: GatewayFailure): GatewayFailure {
  return failure.kind === 'unknown' ? { ...failure, kind: 'broken' } : failure
}

function asUnknown(failure: GatewayFailure): GatewayFailure {
  return { ...failure, kind: 'unknown' }
}

/** A payment that is known to be at the bank stays there, although the gateway does not answer now. */
function mayBeUnanswered(attempt: AttemptRow): boolean {
  return attempt.outcome === null && !isAtTheBank(attempt)
}

/** Stores a failure: a known one fails the order, an unknown one leaves it pending for the reconciler. */
export async function settleFailure(
  shop: ShopContext,
  { id, orderId }: AttemptRow,
  step: GatewayStep,
  failure: GatewayFailure
): Promise<Error> {
  const now = shop.clock.now()
  const { kind, error, requestId } = failure
  const code = error.code ?? error.type
  try {
    await writeWhenFree(shop.db, (tx) => {
      if (kind !== 'unknown') failAttempt(tx, id, `the payment failed: ${code}`, now)
      else if (mayBeUnanswered(getAttempt(tx, id))) updateAttempt(tx, id, { gatewayStatus: unanswered }, now)
    })
  } catch (storageError) {
    // The buyer still gets the gateway's answer; the reconciler stores it later.
    if (!isStorageError(storageError)) throw storageError
    shop.log.error('a failure could not be saved', { orderId, error: describeError(storageError) })
  }
  shop.log.warn('a payment failed', { orderId, step, kind, code, gatewayRequestId: requestId })
  return emailRefused(failure) ?? checkoutFailed(failure, step)
}
