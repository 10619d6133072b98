import type { Db, Tx } from '../../platform/db/database.ts'
import { needsShipping } from '../catalog/product-types.ts'
import { findOrder, getOrder, itemsOf } from './find.ts'
import type { OrderRow } from './rows.ts'
import { isPaidStatus } from './states.ts'
import { moveOrder } from './transition.ts'
import type { Move } from './transition.ts'

/**
 * Records that an order's money has arrived: processing when something has to be shipped, else completed, or on hold
 * when it came after stock or coupon were gone. Told again of a payment that is recorded, it changes nothing, wherever
 * the order has gone since (a dispute's hold is not lifted by a webhook that comes twice).
 *
 * @throws AppError TRANSITION_REFUSED for a cancelled order unless `latePayment` says that the payment is real.
 */
export function payOrder(tx: Tx, orderId: number, move: Move, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  return order.paidAt === null ? moveOrder(tx, orderId, paidStatusOf(tx, orderId), move, now) : order
}

/** The state that this order is in when it is paid. */
export function paidStatusOf(db: Db, orderId: number): 'processing' | 'completed' {
  return needsShipping(itemsOf(db, orderId)) ? 'processing' : 'completed'
}

/**
 * An operator has seen the money, or settles what a late payment left on hold. An order that is paid already stays as
 * it is.
 *
 * @throws AppError TRANSITION_REFUSED for an order that was given up after it had been paid, and for a refunded one.
 */
export function confirmPayment(tx: Tx, orderId: number, cause: { by: string; reason: string }, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  if (isPaidStatus(order.status)) return order
  const latePayment = order.status === 'cancelled' && order.paidAt === null
  return moveOrder(tx, orderId, paidStatusOf(tx, orderId), { ...cause, latePayment }, now)
}

/** Whether there is such an order, and it is paid and not in dispute. */
export function isOrderPaid(db: Db, orderId: number): boolean {
  const order = findOrder(db, orderId)
  return order !== undefined && isPaidStatus(order.status)
}
