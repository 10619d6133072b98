import { write } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { moveOrder } from '../orders/transition.ts'
import { payOrder } from '../orders/pay-order.ts'
import { recordBuyerEmail } from '../orders/record-buyer.ts'
import { isPaidStatus } from '../orders/states.ts'
import { attemptsOf, getAttempt, updateAttempt } from './attempts.ts'
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
export function applyGatewayState(tx: Tx, attemptId: number, state: GatewayState, by: string, now: number): Settled {
  const attempt = getAttempt(tx, attemptId)
  const wrong = mismatch(attempt, state)
  if (wrong !== undefined) {
    const message = `${state.objectId} was not taken as payment of order ${attempt.orderId}: ${wrong}.`
    warn(tx, { orderId: attempt.orderId, kind: 'mismatch', objectId: state.objectId, message }, now)
    return { attempt, verdict: 'mismatch' }
  }
  remember(tx, attempt, state, now)
  if (state.verdict === 'paid') takePayment(tx, attempt, state, by, now)
  else if (state.verdict === 'failed' || state.verdict === 'expired') giveUp(tx, attempt, state, by, now)
  return { attempt: getAttempt(tx, attemptId), verdict: state.verdict }
}

function remember(tx: Tx, attempt: AttemptRow, state: GatewayState, now: number): void {
  const change = {
    gatewayStatus: state.status,
    objectId: attempt.objectId ?? state.objectId,
    paymentIntentId: state.paymentIntentId ?? attempt.paymentIntentId,
    url: state.url ?? attempt.url
  }
  const changed = Object.entries(change).some(([name, value]) => attempt[name as keyof typeof change] !== value)
  if (changed) updateAttempt(tx, attempt.id, change, now)
}

function takePayment(tx: Tx, attempt: AttemptRow, state: GatewayState, by: string, now: number): void {
  if (attempt.outcome === 'paid') return
  updateAttempt(tx, attempt.id, { outcome: 'paid', settledAt: now }, now)
  if (state.email !== null) recordBuyerEmail(tx, attempt.orderId, state.email, now)
  const order = getOrder(tx, attempt.orderId)
  if (order.paidAt !== null || order.status === 'refunded') {
    const message = `Order ${order.id} had been paid already when ${state.objectId} was paid too: refund one of the two.`
    warn(tx, { orderId: order.id, kind: 'paid_twice', objectId: state.objectId, message }, now)
    return
  }
  const late = order.status === 'cancelled'
  const paid = payOrder(tx, order.id, { by, reason: `paid: ${state.objectId}`, latePayment: late }, now)
  if (!isPaidStatus(paid.status)) {
    const message = `Order ${order.id} was paid late and its stock or coupon is gone: complete or refund it.`
    warn(tx, { orderId: order.id, kind: 'late_payment', objectId: state.objectId, message }, now)
  }
}

/** A declined card fails the order, a page left to expire cancels it. */
function giveUp(tx: Tx, attempt: AttemptRow, state: GatewayState, by: string, now: number): void {
  if (state.verdict === 'failed') return failAttempt(tx, attempt.id, `the payment failed: ${state.status}`, now, by)
  endAttempt(tx, attempt, 'expired', { to: 'cancelled', by, reason: 'the payment page expired' }, now)
}

/** A try that is known to have come to nothing. */
export function failAttempt(tx: Tx, attemptId: number, reason: string, now: number, by = 'checkout'): void {
  endAttempt(tx, getAttempt(tx, attemptId), 'failed', { to: 'failed', by, reason }, now)
}

function endAttempt(
  tx: Tx,
  attempt: AttemptRow,
  outcome: 'failed' | 'expired',
  move: { to: 'failed' | 'cancelled'; by: string; reason: string },
  now: number
): void {
  if (attempt.outcome !== null) return
  updateAttempt(tx, attempt.id, { outcome, settledAt: now }, now)
  const { id, status } = getOrder(tx, attempt.orderId)
  const superseded = attemptsOf(tx, id)[0]?.id !== attempt.id
  if (status === 'pending' && !superseded) moveOrder(tx, id, move.to, move, now)
}

/** The same in a transaction of its own, for callers that hold none. */
export function settleAttempt(shop: ShopContext, attemptId: number, state: GatewayState, by: string): Settled {
  const settled = write(shop.db, (tx) => applyGatewayState(tx, attemptId, state, by, shop.clock.now()))
  if (settled.verdict === 'mismatch') {
    shop.log.warn('a payment does not match its order', { orderId: settled.attempt.orderId, object: state.objectId })
  }
  return settled
}
