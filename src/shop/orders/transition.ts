import { eq } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { insertion } from '../../platform/db/insert.ts'
import { giveGrants, revokeGrants } from '../benefits/give.ts'
import { takeBackRenewal } from '../benefits/subscriptions.ts'
import { formatMoney, shareMinor } from '../../platform/money.ts'
import { isShipped, isVoucher, needsShipping } from '../catalog/product-types.ts'
import { cancelReturned, restoreCancelled, cancelSold, issueSold } from '../gift-cards/sold.ts'
import {
  acceptReferral,
  reduceCommission,
  rejectReferral,
  reopenReferral,
  restoreCommission
} from '../referrals/referrals.ts'
import { setting } from '../settings/settings.ts'
import { emit } from '../webhooks/emit.ts'
import {
  creditsHeldFrom,
  creditsOf,
  hadOrderCredits,
  reclaimCards,
  returnCredits,
  spendCredits
} from './refunds/credits.ts'
import { getOrder, hasPaidRenewal, itemsOf, lastMoveOf } from './find.ts'
import type { OrderRow } from './find.ts'
import { handOver, reclaimHold, releaseHold, releaseReturned, takeReturnedAgain } from './holds.ts'
import { creditOrder, invoiceOrder } from './invoice-order.ts'
import { mailBuyer, mailMove } from './order-mails.ts'
import {
  goodsOf,
  lastRefundOf,
  linesOfRefund,
  returnedLines,
  returnedUnits,
  setRefundState,
  storeOrderRefund
} from './refunds/refund-lines.ts'
import type { OrderRefundRow } from './refunds/refund-lines.ts'
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
  const reclaimed = takesHoldAgain(tx, order, to)
    ? [...reclaimHold(tx, order), ...creditsGone(tx, order), ...reclaimCards(tx, orderId, now)]
    : []
  if (reclaimed.length > 0 && !arrived) {
    releaseHold(tx, orderId)
    returnCredits(tx, creditsOf(tx, orderId), now)
    throw refused(order, to, reclaimed)
  }
  const isPaidNow = arrived && order.paidAt === null
  const { spent, lost } = isPaidNow ? spendCredits(tx, orderId, move.by, now) : { spent: [], lost: [] }
  const gone = [...reclaimed, ...lost.map((id) => `order ${id} was refunded otherwise`)]
  // An operator decides about an order that is already on hold for this reason.
  const landed = gone.length > 0 && order.status !== 'on-hold' ? 'on-hold' : to
  const moved = store(tx, order, landed, arrived ? (move.paidAt ?? now) : null, now)
  const reason = [move.reason, ...gone].join('; ')
  recordMove(tx, { orderId, from: order.status, to: landed, by: move.by, reason, at: now })
  if (order.paidAt === null && moved.paidAt !== null) invoiceOrder(tx, moved, now)
  report(tx, order, moved, now)
  followMove(tx, order, moved, now)
  for (const refund of spent) giveCredit(tx, refund, { orderId, by: move.by }, now)
  if (isPaidNow && moved.addedTo !== null) followAddition(tx, moved, { addedTo: moved.addedTo, by: move.by }, now)
  return moved
}

/** The credits of an order that were returned when it ended. Another order has kept what they were for. */
function creditsGone(tx: Tx, { id, addedTo }: OrderRow): string[] {
  return hadOrderCredits(tx, id) && creditsOf(tx, id).every(({ refund }) => refund === null)
    ? [`the change of order ${addedTo} is over`]
    : []
}

/** Records that an order gives back what pays another one. */
function giveCredit(
  tx: Tx,
  refund: OrderRefundRow,
  { orderId, by }: { orderId: number; by: string },
  now: number
): void {
  const reason = `counts towards order ${orderId}`
  recordRefund(tx, refund.orderId, refund.amountMinor, { by, reason }, now, refund)
}

/** The order that another one adds to is shipped with it, and its history says so. */
function followAddition(
  tx: Tx,
  { id, shippingMethod }: OrderRow,
  { addedTo, by }: { addedTo: number; by: string },
  now: number
): void {
  const { status } = getOrder(tx, addedTo)
  if (shippingMethod !== null) tx.orm.update(orders).set({ shippingMethod }).where(eq(orders.id, addedTo)).run()
  recordMove(tx, { orderId: addedTo, from: status, to: status, by, reason: `order ${id} adds to it`, at: now })
  emit(tx, 'order.changed', { orderId: addedTo, fields: ['lines'] }, now)
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
  sellCards(tx, order, now)
  checkReferral(tx, order, now)
  if (setting(tx, 'affiliates.autoAccept')) acceptReferral(tx, order.id, now)
}

/** Issues the gift cards that an order sells. */
function sellCards(tx: Tx, order: OrderRow, now: number): void {
  const { id: orderId, currency, language, email } = order
  const sold = itemsOf(tx, orderId).filter(({ type }) => isVoucher(type))
  if (sold.length === 0) return
  const returned = returnedUnits(tx, orderId)
  // An operator can accept another amount than the price: what was not paid is on no card.
  const lines = sold.map(({ id, quantity, totalMinor }) => {
    const amountsMinor = shareMinor(
      totalMinor,
      Array.from({ length: quantity }, () => 1)
    )
    return { id, amountsMinor: amountsMinor.slice(returned.get(id) ?? 0) }
  })
  const recipient = order.giftRecipient ?? (email === null ? null : { email, message: null, sendOn: null })
  issueSold(tx, { orderId, currency, language, recipient, lines }, 'checkout', now)
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
  returnCredits(tx, [...creditsOf(tx, order.id), ...creditsHeldFrom(tx, order.id)], now)
  if (order.addedTo !== null && order.paidAt === null) dropAddition(tx, order, order.addedTo, now)
  revokeGrants(tx, order.id, { keepSubscriptions: hasPaidRenewal(tx, order.id) }, now)
  takeBackRenewal(tx, order.id, now)
  cancelSold(tx, order.id, 'shop', now)
  rejectReferral(tx, order.id, `order_${order.status}`, now)
}

/** What should have been added to an order was not paid for: that order stays as it is, and its buyer gets an email. */
function dropAddition(tx: Tx, { id, email }: OrderRow, addedTo: number, now: number): void {
  const { status } = getOrder(tx, addedTo)
  const reason = `order ${id} was to change it, but was not paid`
  recordMove(tx, { orderId: addedTo, from: status, to: status, by: 'hold', reason, at: now })
  mailBuyer(tx, { email }, { template: 'change_dropped', data: { orderId: addedTo, additionId: id } }, now)
}

/** Issues the credit note of a refund, emits its event and queues the email to the buyer. */
export function reportRefund(tx: Tx, order: OrderRow, amountMinor: number, full: boolean, now: number): void {
  const { id: orderId, currency } = order
  const refund = lastRefundOf(tx, orderId)
  const lines = refund === undefined ? [] : linesOfRefund(tx, refund.id)
  creditOrder(tx, order, now, lines)
  const parts = returnedLines(tx, orderId, lines)
  const way = refund?.way ?? 'payment'
  emit(tx, 'order.refunded', { orderId, amountMinor, currency, full, way, ...parts }, now)
  // The email about the change says what the other order costs.
  if (way === 'order' || (amountMinor === 0 && order.totalMinor > 0)) return
  mailBuyer(
    tx,
    order,
    { template: 'order_refunded', data: { orderId, amountMinor, ...(way === 'gift_card' ? { toCard: true } : {}) } },
    now
  )
}

/**
 * Checks the amount of a refund, in minor units of the order's currency.
 *
 * @param hasGoods whether it gives back goods, which can have cost nothing
 * @throws AppError TRANSITION_REFUSED when the order was never paid or is fully refunded, VALIDATION_FAILED (`amount`)
 *   for an amount that is not from 1 to the rest
 */
export function checkRefund(order: OrderRow, amountMinor: number, hasGoods = false): void {
  const leftMinor = order.totalMinor - order.refundedMinor
  if (order.paidAt === null || (order.status === 'refunded' && leftMinor === 0)) {
    const why = order.paidAt === null ? 'has not been paid' : 'has been refunded'
    throw new AppError('TRANSITION_REFUSED', `Order ${order.id} ${why}.`, { from: order.status, to: 'refunded' })
  }
  const fits =
    Number.isSafeInteger(amountMinor) &&
    amountMinor <= leftMinor &&
    (amountMinor > 0 || order.totalMinor === 0 || (hasGoods && amountMinor === 0))
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
  checkRefund(order, amountMinor, asked !== undefined)
  const refund = asked ?? storeOrderRefund(tx, order, { amountMinor, parts: [], reason: null }, now)
  setRefundState(tx, refund.id, 'done', now)
  releaseReturned(tx, orderId, linesOfRefund(tx, refund.id))
  const full = order.refundedMinor + amountMinor === order.totalMinor
  if (full && mayMove(order.status, 'refunded', false)) return moveOrder(tx, orderId, 'refunded', cause, now)
  const refunded = addRefund(tx, order, amountMinor, now)
  const reason = `${cause.reason} (${formatMoney(amountMinor, order.currency)})`
  recordMove(tx, { orderId, from: order.status, to: order.status, by: cause.by, reason, at: now })
  endReturnedGrants(tx, orderId, now)
  cancelReturnedCards(tx, orderId, cause.by, now)
  // An order that stays in its state: cancelled, or refunded before by a refund that failed.
  if (full) rejectReferral(tx, orderId, 'order_refunded', now)
  else reduceCommission(tx, orderId, goodsOf(tx, refunded), now)
  reportRefund(tx, refunded, amountMinor, full, now)
  return refunded
}

/** Cancels the unused gift cards of the units that are given back, also while the gateway has not finished the refund. */
export function cancelReturnedCards(tx: Tx, orderId: number, by: string, now: number): void {
  for (const line of soldCards(tx, orderId)) cancelReturned(tx, line, by, now)
}

/** Ends a refund that the gateway refused: nothing was given back, so its gift cards can be used again. */
export function dropRefund(tx: Tx, refundId: number, by: string, now: number): void {
  const { orderId } = setRefundState(tx, refundId, 'failed', now)
  if (isReleasedStatus(getOrder(tx, orderId).status)) return
  for (const line of soldCards(tx, orderId)) restoreCancelled(tx, line, by, now)
}

/** The lines that sell gift cards, with the units that were given back. */
function soldCards(tx: Tx, orderId: number) {
  const returned = returnedUnits(tx, orderId)
  return itemsOf(tx, orderId).flatMap(({ id: orderItemId, type }) =>
    isVoucher(type) ? [{ orderId, orderItemId, units: returned.get(orderItemId) ?? 0 }] : []
  )
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
  restoreCommission(tx, orderId, goodsOf(tx, order), now)
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
