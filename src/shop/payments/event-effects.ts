import type Stripe from 'stripe'
import type { Db } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { itemsOf } from '../orders/find.ts'
import { findAttemptByObject, findAttemptByToken, getAttempt, openAttempts } from './attempts.ts'
import type { Booking } from './booking.ts'
import { applyDispute, disputeOf } from './disputes.ts'
import { objectOf } from './gateway-event.ts'
import type { Effect } from './gateway-event.ts'
import { applyRefunds, refundsOf } from './gateway-refunds.ts'
import type { GatewayState } from './gateway-state.ts'
import { idOf } from './gateway-state.ts'
import { lookUp, unlessMissing } from './look-up.ts'
import type { AttemptRow } from './rows.ts'
import { applyGatewayState } from './settle.ts'
import { endSubscriptionOf } from './subscription-ends.ts'
import { subscriptionEffect } from './subscription-events.ts'
import { subscriptionInterval } from './subscription-interval.ts'
import { warn } from './warnings.ts'

/** Fetches what the event is about and answers with what is to be done; undefined for what concerns us nothing. */
export async function effectOf(shop: ShopContext, stripe: Stripe, event: Stripe.Event): Promise<Effect | undefined> {
  if (event.livemode !== shop.cards?.livemode) return otherMode(event)
  const { type } = event
  if (/^(checkout\.session|payment_intent)\./.test(type)) return paymentEffect(shop, stripe, event)
  if (/^(refund\.|charge\.refund)/.test(type)) return refundEffect(shop, stripe, event)
  if (type.startsWith('charge.dispute.')) return disputeEffect(shop, stripe, event)
  if (/^(customer\.subscription|invoice)\./.test(type)) return subscriptionEffect(shop, stripe, event)
  return undefined
}

function otherMode({ id, type, livemode }: Stripe.Event): Effect {
  const message = `The event ${type} (${id}) is of ${livemode ? 'live' : 'test'} mode, this shop is not: nothing was done.`
  return (booking) => {
    warn(booking, { orderId: null, kind: 'mismatch', objectId: id, message })
    return 'ignored'
  }
}

async function paymentEffect(shop: ShopContext, stripe: Stripe, event: Stripe.Event): Promise<Effect> {
  const attempt = findAttempt(shop.db, event)
  if (attempt === undefined) return foreign(event)
  const state = await lookUp(stripe, { ...attempt, objectId: attempt.objectId ?? ownObject(attempt, event) })
  if (state === undefined) return () => 'ignored'
  return (booking) => (applyGatewayState(booking, attempt.id, state).verdict === 'mismatch' ? 'ignored' : 'applied')
}

/** The event may be quicker than the answer that would have told us the object's id. */
function ownObject({ kind }: AttemptRow, event: Stripe.Event): string | null {
  const isSession = event.type.startsWith('checkout.session.')
  return (kind === 'checkout_session') === isSession ? (objectOf(event).id ?? null) : null
}

function findAttempt(db: Db, event: Stripe.Event): AttemptRow | undefined {
  const { id, metadata } = objectOf(event)
  const byId = typeof id === 'string' ? findAttemptByObject(db, id) : undefined
  return byId ?? (metadata?.attempt === undefined ? undefined : findAttemptByToken(db, metadata.attempt))
}

/** An object that names an order of ours without the token that only we know is worth a look; others are not ours. */
function foreign(event: Stripe.Event): Effect {
  const { id: objectId, metadata, client_reference_id: reference } = objectOf(event)
  const claims = metadata?.order_id ?? metadata?.attempt ?? reference ?? undefined
  if (claims === undefined || typeof objectId !== 'string') return () => 'ignored'
  const message = `${objectId} names an order, but was not started by this shop: nothing was done.`
  return (booking) => {
    warn(booking, { orderId: null, kind: 'foreign_object', objectId, message })
    return 'ignored'
  }
}

async function refundEffect(shop: ShopContext, stripe: Stripe, event: Stripe.Event): Promise<Effect | undefined> {
  const payment = await findPayment(shop, stripe, event)
  if (payment === undefined) return undefined
  const found = await refundsOf(stripe, payment.intentId)
  const returnedMinor = found.reduce((sum, { status, amountMinor }) => sum + (status === 'done' ? amountMinor : 0), 0)
  if (returnedMinor >= payment.attempt.amountMinor) await endSubscriptionOf(stripe, payment.attempt)
  return (booking) => applyRefunds(booking, payment.catchUp(booking), found)
}

async function disputeEffect(shop: ShopContext, stripe: Stripe, event: Stripe.Event): Promise<Effect | undefined> {
  const payment = await findPayment(shop, stripe, event)
  const { id } = objectOf(event)
  if (payment === undefined || typeof id !== 'string') return undefined
  const dispute = disputeOf(await stripe.disputes.retrieve(id))
  if (dispute.status === 'lost') await endSubscriptionOf(stripe, payment.attempt)
  return (booking) => applyDispute(booking, payment.catchUp(booking), dispute)
}

/** The payment beneath an event, and how to record it first where its own event never came. */
type Payment = { intentId: string; attempt: AttemptRow; catchUp: (booking: Booking) => AttemptRow }

async function findPayment(shop: ShopContext, stripe: Stripe, event: Stripe.Event): Promise<Payment | undefined> {
  const intentId = idOf(objectOf(event).payment_intent)
  if (intentId === null) return undefined
  const attempt = findAttemptByObject(shop.db, intentId) ?? (await attemptOfIntent(shop, stripe, intentId))
  if (attempt === undefined) return undefined
  if (attempt.outcome === 'paid') return { intentId, attempt, catchUp: ({ tx }) => getAttempt(tx, attempt.id) }
  const state = await stateOf(stripe, attempt, intentId)
  return { intentId, attempt, catchUp: (booking) => applyGatewayState(booking, attempt.id, state).attempt }
}

async function attemptOfIntent(shop: ShopContext, stripe: Stripe, intentId: string): Promise<AttemptRow | undefined> {
  const intent = await unlessMissing(stripe.paymentIntents.retrieve(intentId))
  if (intent === undefined) return undefined
  const token = intent.metadata?.attempt
  return token === undefined ? attemptOfFirstPeriod(shop, stripe, intent) : findAttemptByToken(shop.db, token)
}

/** What pays a subscription's first period names nothing of ours; before that has been recorded only its page tells. */
async function attemptOfFirstPeriod(
  shop: ShopContext,
  stripe: Stripe,
  { id, amount, currency }: Stripe.PaymentIntent
): Promise<AttemptRow | undefined> {
  for (const attempt of openAttempts(shop.db)) {
    const isSo = attempt.amountMinor === amount && attempt.currency === currency.toUpperCase()
    if (!isSo || attempt.gateway !== shop.cards?.name || !startsSubscription(shop.db, attempt)) continue
    const state = await unlessMissing(lookUp(stripe, attempt))
    if (state?.paymentIntentId === id) return attempt
  }
  // It may have been recorded meanwhile.
  return findAttemptByObject(shop.db, id)
}

function startsSubscription(db: Db, { kind, orderId }: AttemptRow): boolean {
  return kind === 'checkout_session' && subscriptionInterval(itemsOf(db, orderId)) !== null
}

async function stateOf(stripe: Stripe, attempt: AttemptRow, intentId: string): Promise<GatewayState> {
  const objectId = attempt.objectId ?? (attempt.kind === 'payment_intent' ? intentId : null)
  const state = await lookUp(stripe, { ...attempt, objectId })
  // The gateway, or the next reconciliation, brings the event again.
  if (state === undefined) throw new Error(`the payment of order ${attempt.orderId} has not been settled yet`)
  return state
}
