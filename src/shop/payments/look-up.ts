import type Stripe from 'stripe'
import { readGatewayError } from './gateway-failure.ts'
import { stateOfIntent, stateOfSession } from './gateway-state.ts'
import type { GatewayState } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'

type Options = { timeout?: number }

type GatewayObject = {
  read: (stripe: Stripe, id: string, options: Options) => Promise<GatewayState>
  /** Ends it, so that it can no longer be charged. */
  end: (stripe: Stripe, id: string, options: Options) => Promise<GatewayState>
}

/** The kind of object that an attempt's `objectId` names at the gateway; null if there is nothing to read or end. */
const objects: Readonly<Record<AttemptRow['kind'], GatewayObject | null>> = {
  checkout_session: {
    async read(stripe, id, options) {
      const expand = ['payment_intent', 'subscription', 'invoice.payments']
      return stateOfSession(await stripe.checkout.sessions.retrieve(id, { expand }, options))
    },
    end: async (stripe, id, options) => stateOfSession(await stripe.checkout.sessions.expire(id, {}, options))
  },
  payment_intent: {
    async read(stripe, id, options) {
      return stateOfIntent(await stripe.paymentIntents.retrieve(id, { expand: ['payment_method'] }, options))
    },
    end: async (stripe, id, options) => stateOfIntent(await stripe.paymentIntents.cancel(id, {}, options))
  },
  // The attempt of a renewal is created after its invoice was paid.
  invoice: null,
  manual: null,
  none: null
}

/** The gateway's state of an attempt; undefined when the attempt has no object at the gateway yet. */
export async function lookUp(
  stripe: Stripe,
  { objectId, kind }: Pick<AttemptRow, 'objectId' | 'kind'>,
  options: Options = {}
): Promise<GatewayState | undefined> {
  return objectId === null ? undefined : objects[kind]?.read(stripe, objectId, options)
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
    return await objects[kind]?.end(stripe, objectId, options)
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
