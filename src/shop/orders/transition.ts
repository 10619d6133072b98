import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { insertion } from '../../platform/db/insert.ts'
import { giveGrants, revokeGrants } from '../benefits/give.ts'
import { takeBackRenewal } from '../benefits/subscriptions.ts'
import { isShipped, needsShipping } from '../catalog/product-types.ts'
import { acceptReferral, rejectReferral, reopenReferral } from '../referrals/referrals.ts'
import { setting } from '../settings/settings.ts'
import { emit } from '../webhooks/emit.ts'
import { getOrder, hasPaidRenewal, itemsOf, lastMoveOf } from './find.ts'
import type { OrderRow } from './find.ts'
import { handOver, reclaimHold, releaseHold } from './holds.ts'
import { creditOrder, invoiceOrder } from './invoice-order.ts'
import { mailBuyer, mailMove } from './order-mails.ts'
import { lastRefundOf, linesOfRefund, returnedLines, returnedUnits } from './refund-lines.ts'
import { checkReferral } from './review.ts'
import { orderHistory, orders } from './schema.ts'
import { isPaidStatus, isReleasedStatus, mayMove } from './states.ts'
import type { OrderStatus } from './states.ts'

export type Move = {
  /** The actor: `checkout`, `buyer`, `return` (a buyer who comes back from the gateway), `webhook`, `hold`, `reconciler`, `operator`, or `demo` and `seed` in seeds. */
  by: string
  reason: string
  /** A payment arrived after the order was cancelled. Only then, a cancelled order moves. */
  latePayment?: boolean
  /** When the money arrived (epoch ms), if that was before the move. */
  paidAt?: number
}

/**
 * Moves an order to another state and applies the consequences in the caller's transaction: stock and coupon uses,
 * benefits, referral, receipt, events and the audit row. Every move of every order happens here.
 *
 * A move to the current state changes nothing. An order that is paid after its stock or coupon was taken by another
 * order moves to on-hold, with the reason in its audit row, so that an operator completes or refunds it.
 *
 * @throws AppError NOT_FOUND; TRANSITION_REFUSED (details.from, details.to) for a move that is not in the table, and
 *   for a new payment attempt whose stock or coupon is no longer available
 */
export function moveOrder(tx: Tx, orderId: number, to: OrderStatus, move: Move, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  const latePayment = move.latePayment ?? false
  if (order.status === to || (latePayment && order.paidAt !== null)) return order
  if (!mayMove(order.status, to, latePayment)) throw refused(order, to)
  const arrived = isPaidStatus(to) || latePayment
  const gone = takesHoldAgain(tx, order, to) ? reclaimHold(tx, order) : []
  if (gone.length > 0 && !arrived) {
    releaseHold(tx, orderId)
    throw refused(order, to, gone)
  }
  // An operator decides about an order that is already on hold for this reason.
  const landed = gone.length > 0 && order.status !== 'on-hold' ? 'on-hold' : to
  const moved = store(tx, order, landed, arrived ? (move.paidAt ?? now) : null, now)
  const reason = [move.reason, ...gone].join('; ')
  recordMove(tx, { orderId, from: order.status, to: landed, by: move.by, reason, at: now })
  if (order.paidAt === null && moved.paidAt !== null) invoiceOrder(tx, moved, now)
  report(tx, order, moved, now)
  followMove(tx, order, moved, now)
  return moved
}

/**
 * Records that an order is paid: it moves to processing if something must be shipped, else to completed, or to on-hold
 * if its stock or coupon is no longer available. A recorded payment changes nothing when it is reported again, whatever
 * state the order has now: a repeated webhook must not release an order that is on hold because of a dispute.
 *
 * @throws AppError TRANSITION_REFUSED for a cancelled order, unless `latePayment` is true
 */
export function payOrder(tx: Tx, orderId: number, move: Move, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  return order.paidAt === null ? moveOrder(tx, orderId, paidStatusOf(tx, orderId), move, now) : order
}

/** The state that an order moves to when it is paid. */
export function paidStatusOf(db: Db, orderId: number): 'processing' | 'completed' {
  return needsShipping(itemsOf(db, orderId)) ? 'processing' : 'completed'
}

/**
 * Marks an order as paid for an operator who has received the money, or who releases an order that a late payment left
 * on hold. A paid order does not change.
 *
 * @throws AppError TRANSITION_REFUSED for an order that was cancelled after it was paid, and for a refunded order
 */
export function confirmPayment(
  tx: Tx,
  orderId: number,
  cause: Pick<Move, 'by' | 'reason' | 'paidAt'>,
  now: number
): OrderRow {
  const order = getOrder(tx, orderId)
  if (isPaidStatus(order.status)) return order
  const latePayment = order.status === 'cancelled' && order.paidAt === null
  return moveOrder(tx, orderId, paidStatusOf(tx, orderId), { ...cause, latePayment }, now)
}

/**
 * Completes an order for an operator: the buyer has received everything.
 *
 * @throws AppError NOT_FOUND, TRANSITION_REFUSED
 */
export function completeOrder(db: Db, orderId: number, by: string, now: number): OrderRow {
  return write(db, (tx) => moveOrder(tx, orderId, 'completed', { by, reason: 'marked as completed' }, now))
}

/** For moves from a released state to another one, and from the on-hold of a late payment, which may lack stock. */
function takesHoldAgain(tx: Tx, order: OrderRow, to: OrderStatus): boolean {
  if (isReleasedStatus(to)) return false
  if (order.status !== 'on-hold') return isReleasedStatus(order.status)
  const before = lastMoveOf(tx, order.id)?.from
  return before !== undefined && before !== null && isReleasedStatus(before)
}

function store(tx: Tx, order: OrderRow, status: OrderStatus, arrivedAt: number | null, now: number): OrderRow {
  const holdMs = setting(tx, 'checkout.holdMinutes') * 60_000
  return tx.orm
    .update(orders)
    .set({
      status,
      paidAt: order.paidAt ?? arrivedAt,
      holdEndsAt: status === 'pending' ? now + holdMs : order.holdEndsAt,
      refundedMinor: status === 'refunded' ? order.totalMinor : order.refundedMinor,
      updatedAt: now
    })
    .where(eq(orders.id, order.id))
    .returning()
    .get()
}

function report(tx: Tx, before: OrderRow, after: OrderRow, now: number): void {
  const orderId = after.id
  emit(tx, 'order.status_changed', { orderId, from: before.status, to: after.status }, now)
  if (before.paidAt === null && after.paidAt !== null) {
    emit(tx, 'order.paid', { orderId, totalMinor: after.totalMinor, currency: after.currency }, now)
  }
}

function refused(order: OrderRow, to: OrderStatus, gone: readonly string[] = []): AppError {
  const why = gone.length > 0 ? `: ${gone.join('; ')}` : ''
  const message = `Order ${order.id} cannot go from ${order.status} to ${to}${why}.`
  return new AppError('TRANSITION_REFUSED', message, { from: order.status, to, ...(gone.length > 0 ? { gone } : {}) })
}

const newMove = insertion(orderHistory)

/** Writes the audit row of a move; `from` is null for an order's first state. */
export function recordMove(
  tx: Tx,
  move: { orderId: number; from: OrderStatus | null; to: OrderStatus; by: string; reason: string; at: number }
): void {
  newMove.run(tx, move)
}

/** Applies the consequences of a stored move. Each happens at most once, whatever states the order passes through. */
function followMove(tx: Tx, before: OrderRow, after: OrderRow, now: number): void {
  const wasReleased = isReleasedStatus(before.status)
  const isReleased = isReleasedStatus(after.status)
  if (wasReleased && !isReleased) reopenReferral(tx, after.id, now)
  if (isPaidStatus(after.status) && !isPaidStatus(before.status)) fulfil(tx, after, now)
  if (isReleased && !wasReleased) release(tx, after, now)
  if (after.status === 'completed')
    for (const item of itemsOf(tx, after.id)) if (isShipped(item.type)) handOver(tx, item.id, item.quantity)
  mailMove(tx, before, after, now)
  // Earlier partial refunds have been reported before.
  const refundedMinor = after.refundedMinor - before.refundedMinor
  if (after.status === 'refunded' && refundedMinor > 0) reportRefund(tx, after, refundedMinor, true, now)
}

/** Fulfils a paid order: the buyer gets the benefits, the affiliate a commission. */
function fulfil(tx: Tx, order: OrderRow, now: number): void {
  giveOrderGrants(tx, order, now)
  checkReferral(tx, order, now)
  if (setting(tx, 'affiliates.autoAccept')) acceptReferral(tx, order.id, now)
}

/** Gives the benefits of the lines, once each: a guest what needs no account, and the rest when an account claims the order. */
export function giveOrderGrants(tx: Tx, order: OrderRow, now: number): void {
  const { id: orderId, userId, currency } = order
  const returned = returnedUnits(tx, orderId)
  const items = itemsOf(tx, orderId).filter(({ id, quantity }) => (returned.get(id) ?? 0) < quantity)
  giveGrants(tx, { orderId, userId, currency, items }, now)
}

/** Undoes an order that ended: returns stock and coupons, and ends its benefits and its commission. */
function release(tx: Tx, order: OrderRow, now: number): void {
  releaseHold(tx, order.id)
  revokeGrants(tx, order.id, { keepSubscriptions: hasPaidRenewal(tx, order.id) }, now)
  takeBackRenewal(tx, order.id, now)
  rejectReferral(tx, order.id, `order_${order.status}`, now)
}

/** Issues the credit note of a refund, emits its event and queues the email to the buyer. */
export function reportRefund(tx: Tx, order: OrderRow, amountMinor: number, full: boolean, now: number): void {
  const { id: orderId, currency } = order
  const refund = lastRefundOf(tx, orderId)
  const lines = refund === undefined ? [] : linesOfRefund(tx, refund.id)
  creditOrder(tx, order, now, lines)
  const parts = returnedLines(tx, orderId, lines)
  emit(tx, 'order.refunded', { orderId, amountMinor, currency, full, ...parts }, now)
  mailBuyer(tx, order, { template: 'order_refunded', data: { orderId, amountMinor } }, now)
}
