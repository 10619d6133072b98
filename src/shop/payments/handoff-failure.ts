import type Stripe from 'stripe'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { isStorageError } from '../../platform/db/storage-errors.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { getAttempt, unanswered, updateAttempt } from './attempts.ts'
import type { Deadline } from './deadline.ts'
import { checkoutFailed, readGatewayError } from './gateway-failure.ts'
import type { GatewayFailure, GatewayStep } from './gateway-failure.ts'
import type { GatewayState } from './gateway-state.ts'
import { callOff, lookUp } from './look-up.ts'
import type { AttemptRow } from './rows.ts'
import { failAttempt } from './settle.ts'

/** What every step of one checkout works with. */
export type Way = { shop: ShopContext; stripe: Stripe; deadline: Deadline; attempt: AttemptRow }

/** The payment was given up before anything was charged, and the gateway has nothing to say about it. */
export const nothingCharged: GatewayFailure = {
  kind: 'broken',
  answered: true,
  temporary: false,
  missing: false,
  error: { type: '', decline_code: null, param: '', message: '' },
  requestId: ''
}

/** An intent that was never confirmed charges nobody: whatever the gateway answers to its creation, that is certain. */
export function afterFailedCreate({ shop, attempt }: Way, error: unknown): Promise<Error> {
  const failure = readGatewayError(error)
  return settleFailure(shop, attempt, 'create_intent', failure.answered ? asKnown(failure) : failure)
}

/**
 * What an error of the confirmation came to. Where the gateway did not answer, the confirmation may still be on its way,
 * and the reconciler will see. Where it did, only the intent itself tells whether anything was charged: one that can
 * still be paid is called off before the buyer hears that it failed, or he might pay twice.
 *
 * @throws AppError CHECKOUT_FAILED
 */
export async function afterFailedConfirm(way: Way, error: unknown): Promise<GatewayState> {
  const { shop, stripe, attempt } = way
  const failure = readGatewayError(error)
  const failed = (known: GatewayFailure): Promise<Error> => settleFailure(shop, attempt, 'confirm_intent', known)
  if (!failure.answered) throw await failed(asUnknown(failure))
  if (failure.kind === 'refused' && saysDeclined(error)) throw await failed(failure)
  const state = await findIntent(way, failure)
  if (state.verdict !== 'open' && state.verdict !== 'failed') return state
  if (state.verdict === 'failed') throw await failed(asKnown(failure))
  const ended = await ask(way, failure, (options) => callOff(stripe, attempt, options))
  if (ended === undefined || ended.verdict === 'failed') throw await failed(asKnown(failure))
  return ended
}

/** The intent as it stands now; `failure` is what is told when the gateway does not say. */
export async function findIntent(way: Way, failure?: GatewayFailure): Promise<GatewayState> {
  const state = await ask(way, failure, (options) => lookUp(way.stripe, way.attempt, options))
  if (state === undefined) throw new Error(`payment attempt ${way.attempt.id} has no intent`)
  return state
}

async function ask<T>(
  { shop, attempt, deadline }: Way,
  failure: GatewayFailure | undefined,
  work: (options: { timeout: number }) => Promise<T>
): Promise<T> {
  try {
    return await deadline.call(work)
  } catch (error) {
    throw await settleFailure(shop, attempt, 'confirm_intent', asUnknown(failure ?? readGatewayError(error)))
  }
}

/** A card error carries the intent that it left behind. */
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

/** A failure that is known fails the order; one that is not leaves it pending for the reconciler. */
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
      else if (getAttempt(tx, id).outcome === null) updateAttempt(tx, id, { gatewayStatus: unanswered }, now)
    })
  } catch (trouble) {
    // What the gateway said is true and told all the same; the reconciler writes it down when that is possible again.
    if (!isStorageError(trouble)) throw trouble
    shop.log.error('a failure could not be saved', { orderId, error: describeError(trouble) })
  }
  shop.log.warn('a payment failed', { orderId, step, kind, code, gatewayRequestId: requestId })
  return checkoutFailed(failure, step)
}
