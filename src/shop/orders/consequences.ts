import { queueMail } from '../mail/queue-mail.ts'
import type { Tx } from '../../platform/db/database.ts'
import { acceptReferral, rejectReferral, reopenReferral } from '../referrals/referrals.ts'
import { giveGrants, revokeGrants } from '../benefits/give.ts'
import { takeBackRenewal } from '../benefits/subscriptions.ts'
import { emit } from '../outbox/emit.ts'
import { setting } from '../settings/settings.ts'
import { historyOf, itemsOf } from './find.ts'
import { releaseHoldings } from './hold.ts'
import { hasPaidRenewal } from './renewal-order.ts'
import type { OrderRow } from './rows.ts'
import { isPaidStatus, isReleasedStatus } from './states.ts'

/** What follows from a move that has been stored and recorded. Each is done at most once, whatever the order's way. */
export function followMove(tx: Tx, before: OrderRow, after: OrderRow, now: number): void {
  const wasReleased = isReleasedStatus(before.status)
  const isReleased = isReleasedStatus(after.status)
  if (wasReleased && !isReleased) reopenReferral(tx, after.id, now)
  if (isPaidStatus(after.status) && !isPaidStatus(before.status)) settle(tx, after, now)
  if (isReleased && !wasReleased) release(tx, after, now)
  if (after.status === 'refunded') tellRefund(tx, after, after.totalMinor - before.refundedMinor, now)
}

/** The order is paid: what it held stays taken, the buyer gets what was promised, the affiliate earns. */
function settle(tx: Tx, order: OrderRow, now: number): void {
  giveOrderGrants(tx, order, now)
  if (setting(tx, 'affiliates.autoAccept')) acceptReferral(tx, order.id, now)
  const timesPaid = historyOf(tx, order.id).filter((row) => isPaidStatus(row.to)).length
  if (timesPaid > 1 || order.email === null) return
  queueMail(tx, { template: 'order_receipt', recipient: order.email, data: { orderId: order.id } }, now)
}

/** What the lines grant, once each; a guest's order gives nothing until an account takes it in. */
export function giveOrderGrants(tx: Tx, order: OrderRow, now: number): void {
  const { id: orderId, userId, currency } = order
  if (userId !== null) giveGrants(tx, { orderId, userId, currency, items: itemsOf(tx, orderId) }, now)
}

/** The order is off: stock and coupons go back, the buyer loses what it gave, the affiliate earns nothing. */
function release(tx: Tx, order: OrderRow, now: number): void {
  releaseHoldings(tx, order.id)
  revokeGrants(tx, order.id, { keepSubscriptions: hasPaidRenewal(tx, order.id) }, now)
  takeBackRenewal(tx, order.id, now)
  rejectReferral(tx, order.id, `order_${order.status}`, now)
}

/** Tells of money that went back with the move to refunded; a part that went back earlier has been told of. */
function tellRefund(tx: Tx, order: OrderRow, amountMinor: number, now: number): void {
  if (amountMinor === 0) return
  tellOfRefund(tx, order, amountMinor, true, now)
}

/** The event and the buyer's message for one refund. */
export function tellOfRefund(tx: Tx, order: OrderRow, amountMinor: number, full: boolean, now: number): void {
  const { id: orderId, currency, email } = order
  emit(tx, 'order.refunded', { orderId, amountMinor, currency, full }, now)
  if (email === null) return
  queueMail(tx, { template: 'order_refunded', recipient: email, data: { orderId, amountMinor } }, now)
}
