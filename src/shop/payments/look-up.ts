import type Stripe from 'stripe'
import { readGatewayError } from './gateway-failure.ts'
import { stateOfIntent, stateOfSession } from './gateway-state.ts'
import type { GatewayState } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'

type Options = { timeout?: number }

/** The gateway's state of an attempt; undefined when the attempt has no object at the gateway yet. */
export async function lookUp(
  stripe: Stripe,
  { objectId, kind }: Pick<AttemptRow, 'objectId' | 'kind'>,
  options: Options = {}
): Promise<GatewayState | undefined> {
  if (objectId === null) return undefined
  if (kind !== 'checkout_session')
    return stateOfIntent(await stripe.paymentIntents.retrieve(objectId, { expand: ['payment_method'] }, options))
  const expand = ['payment_intent', 'subscription', 'invoice.payments']
  return stateOfSession(await stripe.checkout.sessions.retrieve(objectId, { expand }, options))
}

/**
 * Expires a page or cancels an intent, so that it cannot be charged any more, and returns its state: `paid` when the buyer
 * was faster. Undefined when the gateway does not know the object.
 */
export async function callOff(
  stripe: Stripe,
  attempt: Pick<AttemptRow, 'objectId' | 'kind'>,
  options: Options = {}
): Promise<GatewayState | undefined> {
  const { objectId, kind } = attempt
  if (objectId === null) return undefined
  try {
    return kind === 'checkout_session'
      ? stateOfSession(await stripe.checkout.sessions.expire(objectId, {}, options))
      : stateOfIntent(await stripe.paymentIntents.cancel(objectId, {}, options))
  } catch (error) {
    const { missing, answered } = readGatewayError(error)
    if (missing) return undefined
    if (!answered) throw error
    // The gateway refuses when the object is paid or over; its state tells which.
    const state = await lookUp(stripe, attempt, options)
    if (state?.verdict === 'open' || state?.verdict === 'action') throw error
    return state
  }
}

/** The gateway's answer; undefined for an object that the gateway does not know. */
export async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (readGatewayError(error).missing) return undefined
    throw error
  }
}
