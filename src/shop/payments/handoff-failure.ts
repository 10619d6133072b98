import type Stripe from 'stripe'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { isStorageError } from '../../platform/db/storage-errors.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { getAttempt, unanswered, updateAttempt } from './attempts.ts'
import type { Deadline } from './deadline.ts'
import { checkoutFailed, emailRefused, readGatewayError } from './gateway-failure.ts'
import type { GatewayFailure, GatewayStep } from './gateway-failure.ts'
import { isAtTheBank } from './gateway-state.ts'
import type { GatewayState } from './gateway-state.ts'
import { callOff, lookUp } from './look-up.ts'
import type { AttemptRow } from './rows.ts'
import { failAttempt } from './settle.ts'

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
  const { payment_intent: intent } = error as { payment_intent?: { status?: unknown } }
  return intent?.status === 'requires_payment_method'
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
