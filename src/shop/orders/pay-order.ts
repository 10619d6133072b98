import type { Db, Tx } from '../../platform/db/database.ts'
import { needsShipping } from '../catalog/product-types.ts'
import { findOrder, getOrder, itemsOf } from './find.ts'
import type { OrderRow } from './rows.ts'
import { isPaidStatus } from './states.ts'
import { moveOrder } from './transition.ts'
import type { Move } from './transition.ts'

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
export function confirmPayment(tx: Tx, orderId: number, cause: { by: string; reason: string }, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  if (isPaidStatus(order.status)) return order
  const latePayment = order.status === 'cancelled' && order.paidAt === null
  return moveOrder(tx, orderId, paidStatusOf(tx, orderId), { ...cause, latePayment }, now)
}

/** Whether the order exists, is paid and is not disputed. */
export function isOrderPaid(db: Db, orderId: number): boolean {
  const order = findOrder(db, orderId)
  return order !== undefined && isPaidStatus(order.status)
}
