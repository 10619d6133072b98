import type Stripe from 'stripe'
import { stateOfIntent, stateOfSession } from './gateway-state.ts'
import type { GatewayState } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'

/** Asks the gateway how an attempt stands; undefined when the gateway has not been told of it yet. */
export async function lookUp(stripe: Stripe, attempt: AttemptRow): Promise<GatewayState | undefined> {
  const { objectId, kind } = attempt
  if (objectId === null) return undefined
  return kind === 'checkout_session'
    ? stateOfSession(await stripe.checkout.sessions.retrieve(objectId))
    : stateOfIntent(await stripe.paymentIntents.retrieve(objectId))
}

/** Takes back what the buyer has not paid yet, so that nothing can be charged any more. Paid meanwhile? Then it says so. */
export async function callOff(stripe: Stripe, attempt: AttemptRow): Promise<GatewayState | undefined> {
  const { objectId, kind } = attempt
  if (objectId === null) return undefined
  try {
    if (kind === 'checkout_session') return stateOfSession(await stripe.checkout.sessions.expire(objectId))
    return stateOfIntent(await stripe.paymentIntents.cancel(objectId))
  } catch (error) {
    // It is refused when it was paid or over already: then its own state tells.
    const state = await lookUp(stripe, attempt)
    if (state?.verdict === 'open' || state?.verdict === 'action') throw error
    return state
  }
}
