import type Stripe from 'stripe'
import { readGatewayError } from './gateway-failure.ts'
import { stateOfIntent, stateOfSession } from './gateway-state.ts'
import type { GatewayState } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'

type Options = { timeout?: number }

/** Asks the gateway how an attempt stands; undefined when the gateway has not been told of it yet. */
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
 * Takes back what the buyer has not paid yet, so that nothing can be charged any more. Paid meanwhile? Then it says so.
 * Undefined when the gateway knows nothing of it, and so can charge nothing either.
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
    // It is refused when it was paid or over already: then its own state tells.
    const state = await lookUp(stripe, attempt, options)
    if (state?.verdict === 'open' || state?.verdict === 'action') throw error
    return state
  }
}

/** What the gateway answers; undefined for an object that it does not know, which is none of ours. */
export async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (readGatewayError(error).missing) return undefined
    throw error
  }
}
