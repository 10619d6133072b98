import { eq } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import { revokeGrants } from '../benefits/give.ts'
import { emit } from '../webhooks/emit.ts'
import { reduceCommission, rejectReferral, restoreCommission } from '../referrals/referrals.ts'
import { recordMove, moveOrder, reportRefund } from './transition.ts'
import { getOrder, hasPaidRenewal, itemsOf } from './find.ts'
import { releaseReturned, takeReturnedAgain } from './holds.ts'
import { mailBuyer } from './order-mails.ts'
import type { OrderRow } from './find.ts'
import { orders } from './schema.ts'
import { isReleasedStatus, mayMove } from './states.ts'
import { commissionBaseOf, linesOfRefund, returnedUnits, setRefundState, storeOrderRefund } from './refund-lines.ts'
import type { OrderRefundRow } from './refund-lines.ts'

/**
 * Checks the amount of a refund, in minor units of the order's currency.
 *
 * @throws AppError TRANSITION_REFUSED when the order was never paid or is fully refunded, VALIDATION_FAILED (`amount`)
 *   for an amount that is not from 1 to the rest
 */
export function checkRefund(order: OrderRow, amountMinor: number): void {
  const leftMinor = order.totalMinor - order.refundedMinor
  if (order.paidAt === null || (order.status === 'refunded' && leftMinor === 0)) {
    const why = order.paidAt === null ? 'has not been paid' : 'has been refunded'
    throw new AppError('TRANSITION_REFUSED', `Order ${order.id} ${why}.`, { from: order.status, to: 'refunded' })
  }
  const fits =
    Number.isSafeInteger(amountMinor) && amountMinor <= leftMinor && (amountMinor > 0 || order.totalMinor === 0)
  if (!fits) throw validationFailed({ amount: ['Must be above zero and at most the amount that is not refunded yet.'] })
}

/**
 * Records a refund: what it gives back goes to the stock if it never left the shop or the operator says so, and the
 * benefits of lines that are given back as a whole end. A partial refund reduces the affiliate's commission and leaves the
 * order in its state; the history has a row with its amount. When the whole amount is refunded, the order moves to
 * refunded. An order that was cancelled after it was paid stays cancelled.
 *
 * @param asked the stored refund with its lines; without one, the amount is returned in proportion to what is left
 * @throws AppError as `checkRefund`
 */
export function recordRefund(
  tx: Tx,
  orderId: number,
  amountMinor: number,
  cause: { by: string; reason: string },
  now: number,
  asked?: OrderRefundRow
): OrderRow {
  const order = getOrder(tx, orderId)
  checkRefund(order, amountMinor)
  const refund = asked ?? storeOrderRefund(tx, order, { amountMinor, parts: [], reason: null }, now)
  setRefundState(tx, refund.id, 'done', now)
  releaseReturned(tx, orderId, linesOfRefund(tx, refund.id))
  const full = order.refundedMinor + amountMinor === order.totalMinor
  if (full && mayMove(order.status, 'refunded', false)) return moveOrder(tx, orderId, 'refunded', cause, now)
  const refunded = addRefund(tx, order, amountMinor, now)
  const reason = `${cause.reason} (${formatMoney(amountMinor, order.currency)})`
  recordMove(tx, { orderId, from: order.status, to: order.status, by: cause.by, reason, at: now })
  endReturnedGrants(tx, orderId, now)
  // An order that stays in its state: cancelled, or refunded before by a refund that failed.
  if (full) rejectReferral(tx, orderId, 'order_refunded', now)
  else reduceCommission(tx, orderId, commissionBaseOf(tx, refunded), now)
  reportRefund(tx, refunded, amountMinor, full, now)
  return refunded
}

/** Ends the benefits of the lines that are given back as a whole. */
function endReturnedGrants(tx: Tx, orderId: number, now: number): void {
  const returned = returnedUnits(tx, orderId)
  const itemIds = itemsOf(tx, orderId).flatMap(({ id, quantity }) => (returned.get(id) === quantity ? [id] : []))
  if (itemIds.length === 0) return
  revokeGrants(tx, orderId, { keepSubscriptions: hasPaidRenewal(tx, orderId), itemIds }, now)
}

/**
 * Reverses a recorded refund, because the gateway reports that the money did not reach the buyer. The amount counts as
 * not refunded, its lines as not given back, the affiliate's commission is restored, and the order can be refunded again.
 * The order stays in its state and its benefits stay ended, because the shop still owes the money. The buyer, who was told
 * of the refund, gets an email.
 */
export function reverseRefund(
  tx: Tx,
  orderId: number,
  amountMinor: number,
  cause: { by: string; reason: string },
  now: number,
  refundId?: number | null
): OrderRow {
  const before = getOrder(tx, orderId)
  if (typeof refundId === 'number') {
    setRefundState(tx, refundId, 'failed', now)
    if (!isReleasedStatus(before.status)) takeReturnedAgain(tx, orderId, linesOfRefund(tx, refundId))
  }
  const reversedMinor = Math.min(amountMinor, before.refundedMinor)
  const order = addRefund(tx, before, -reversedMinor, now)
  restoreCommission(tx, orderId, commissionBaseOf(tx, order), now)
  recordMove(tx, { orderId, from: order.status, to: order.status, ...cause, at: now })
  emit(tx, 'order.refund_failed', { orderId, amountMinor: reversedMinor, currency: order.currency }, now)
  mailBuyer(tx, order, { template: 'refund_failed', data: { orderId, amountMinor: reversedMinor } }, now)
  return order
}

function addRefund(tx: Tx, { id, refundedMinor }: OrderRow, amountMinor: number, now: number): OrderRow {
  return tx.orm
    .update(orders)
    .set({ refundedMinor: refundedMinor + amountMinor, updatedAt: now })
    .where(eq(orders.id, id))
    .returning()
    .get()
}
