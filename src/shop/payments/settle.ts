import type { Tx } from '../../platform/db/database.ts'
import { linkSubscription } from '../benefits/subscriptions.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { moveOrder } from '../orders/transition.ts'
import { payOrder } from '../orders/pay-order.ts'
import { recordBuyerEmail } from '../orders/record-buyer.ts'
import { isPaidStatus } from '../orders/states.ts'
import { attemptsOf, getAttempt, updateAttempt } from './attempts.ts'
import { book } from './booking.ts'
import type { Booking } from './booking.ts'
import { endTransfers } from './by-hand.ts'
import { mismatch } from './gateway-state.ts'
import type { GatewayState } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'
import { warn } from './warnings.ts'

/** How an attempt stands after the gateway's word has been applied. */
export type Settled = { attempt: AttemptRow; verdict: GatewayState['verdict'] | 'mismatch' }

/**
 * Applies what the gateway itself says of an attempt, in the caller's transaction. Whoever learns it first (the
 * checkout, a webhook, the reconciler, the command line) comes through here, and saying it again changes nothing.
 *
 * An object that does not match what was asked leaves the order as it is and a warning for the operator.
 */
export function applyGatewayState(booking: Booking, attemptId: number, state: GatewayState): Settled {
  const { tx } = booking
  const attempt = getAttempt(tx, attemptId)
  const wrong = mismatch(attempt, state)
  if (wrong !== undefined) {
    const message = `${state.objectId} was not taken as payment of order ${attempt.orderId}: ${wrong}.`
    warn(booking, { orderId: attempt.orderId, kind: 'mismatch', objectId: state.objectId, message })
    return { attempt, verdict: 'mismatch' }
  }
  // Whatever else was read of a payment that has arrived was read before it did.
  if (attempt.outcome === 'paid') return { attempt, verdict: 'paid' }
  remember(booking, attempt, state)
  if (state.verdict === 'paid') takePayment(booking, attempt, state)
  else if (state.verdict === 'failed' || state.verdict === 'expired') giveUp(booking, attempt, state)
  return { attempt: getAttempt(tx, attemptId), verdict: state.verdict }
}

/** The same in a transaction of its own, for callers that hold none. */
export function settleAttempt(shop: ShopContext, attemptId: number, state: GatewayState, by: string): Promise<Settled> {
  return book(shop, by, (booking) => applyGatewayState(booking, attemptId, state))
}

/** A try that is known to have come to nothing. */
export function failAttempt(tx: Tx, attemptId: number, reason: string, now: number, by = 'checkout'): void {
  endAttempt(tx, getAttempt(tx, attemptId), { outcome: 'failed', to: 'failed', by, reason }, now)
}

function remember({ tx, now }: Booking, attempt: AttemptRow, state: GatewayState): void {
  const change = {
    gatewayStatus: state.status,
    objectId: attempt.objectId ?? state.objectId,
    paymentIntentId: state.paymentIntentId ?? attempt.paymentIntentId,
    url: state.url ?? attempt.url
  }
  const changed = Object.entries(change).some(([name, value]) => attempt[name as keyof typeof change] !== value)
  if (changed) updateAttempt(tx, attempt.id, change, now)
}

function takePayment(booking: Booking, attempt: AttemptRow, state: GatewayState): void {
  const { tx, by, now } = booking
  updateAttempt(tx, attempt.id, { outcome: 'paid', settledAt: now }, now)
  if (state.email !== null) recordBuyerEmail(tx, attempt.orderId, state.email, now)
  const order = getOrder(tx, attempt.orderId)
  if (order.paidAt !== null || order.status === 'refunded') {
    const surplus = state.paymentIntentId ?? state.objectId
    const advice = `refund ${surplus} at the gateway; \`orders refund\` would refund the order itself`
    const message = `Order ${order.id} had been paid already when ${state.objectId} was paid too: ${advice}.`
    warn(booking, { orderId: order.id, kind: 'paid_twice', objectId: state.objectId, message })
    return
  }
  const late = order.status === 'cancelled'
  const paid = payOrder(tx, order.id, { by, reason: `paid: ${state.objectId}`, latePayment: late }, now)
  // The buyer had chosen a transfer, and paid on the gateway's page after all.
  endTransfers(tx, order.id, 'abandoned', now)
  if (!isPaidStatus(paid.status)) {
    const message = `Order ${order.id} was paid late and its stock or coupon is gone: complete or refund it.`
    warn(booking, { orderId: order.id, kind: 'late_payment', objectId: state.objectId, message })
  }
  if (state.subscription === null) return
  const { id: gatewayId, periodEnd: currentPeriodEnd } = state.subscription
  linkSubscription(tx, { orderId: order.id, gatewayId, currentPeriodEnd }, now)
}

/** A declined card fails the order, a page left to expire cancels it. */
function giveUp({ tx, by, now }: Booking, attempt: AttemptRow, state: GatewayState): void {
  if (state.verdict === 'failed') return failAttempt(tx, attempt.id, `the payment failed: ${state.status}`, now, by)
  endAttempt(tx, attempt, { outcome: 'expired', to: 'cancelled', by, reason: 'the payment page expired' }, now)
}

type Ending = { outcome: 'failed' | 'expired'; to: 'failed' | 'cancelled'; by: string; reason: string }

/** An order that waits for another attempt by now is left to that one. */
function endAttempt(tx: Tx, attempt: AttemptRow, { outcome, to, ...move }: Ending, now: number): void {
  if (attempt.outcome !== null) return
  updateAttempt(tx, attempt.id, { outcome, settledAt: now }, now)
  const { id, status } = getOrder(tx, attempt.orderId)
  const superseded = attemptsOf(tx, id)[0]?.id !== attempt.id
  if (status === 'pending' && !superseded) moveOrder(tx, id, to, move, now)
}
