import type { Tx } from '../../platform/db/database.ts'
import { acceptReferral, rejectReferral, reopenReferral } from '../referrals/referrals.ts'
import { giveGrants, revokeGrants } from '../benefits/give.ts'
import { takeBackRenewal } from '../benefits/subscriptions.ts'
import { emit } from '../outbox/emit.ts'
import { setting } from '../settings/settings.ts'
import { itemsOf } from './find.ts'
import { releaseHold } from './hold.ts'
import { creditOrder } from './invoice-order.ts'
import { mailBuyer, mailMove } from './order-mails.ts'
import { hasPaidRenewal } from './renewal-order.ts'
import type { OrderRow } from './rows.ts'
import { isPaidStatus, isReleasedStatus } from './states.ts'

/** Applies the consequences of a stored move. Each happens at most once, whatever states the order passes through. */
export function followMove(tx: Tx, before: OrderRow, after: OrderRow, now: number): void {
  const wasReleased = isReleasedStatus(before.status)
  const isReleased = isReleasedStatus(after.status)
  if (wasReleased && !isReleased) reopenReferral(tx, after.id, now)
  if (isPaidStatus(after.status) && !isPaidStatus(before.status)) fulfil(tx, after, now)
  if (isReleased && !wasReleased) release(tx, after, now)
  mailMove(tx, before, after, now)
  if (after.status === 'refunded') reportLastRefund(tx, after, after.totalMinor - before.refundedMinor, now)
}

/** Fulfils a paid order: the buyer gets the benefits, the affiliate a commission. */
function fulfil(tx: Tx, order: OrderRow, now: number): void {
  giveOrderGrants(tx, order, now)
  if (setting(tx, 'affiliates.autoAccept')) acceptReferral(tx, order.id, now)
}

/** Gives the benefits of the lines, once each. A guest's order gives nothing until an account claims it. */
export function giveOrderGrants(tx: Tx, order: OrderRow, now: number): void {
  const { id: orderId, userId, currency } = order
  if (userId !== null) giveGrants(tx, { orderId, userId, currency, items: itemsOf(tx, orderId) }, now)
}

/** Undoes an order that ended: returns stock and coupons, and ends its benefits and its commission. */
function release(tx: Tx, order: OrderRow, now: number): void {
  releaseHold(tx, order.id)
  revokeGrants(tx, order.id, { keepSubscriptions: hasPaidRenewal(tx, order.id) }, now)
  takeBackRenewal(tx, order.id, now)
  rejectReferral(tx, order.id, `order_${order.status}`, now)
}

/** Reports the refund of the move to `refunded`. Earlier partial refunds have been reported before. */
function reportLastRefund(tx: Tx, order: OrderRow, amountMinor: number, now: number): void {
  if (amountMinor === 0) return
  reportRefund(tx, order, amountMinor, true, now)
}

/** Issues the credit note of a refund, emits its event and queues the email to the buyer. */
export function reportRefund(tx: Tx, order: OrderRow, amountMinor: number, full: boolean, now: number): void {
  const { id: orderId, currency } = order
  creditOrder(tx, order, now)
  emit(tx, 'order.refunded', { orderId, amountMinor, currency, full }, now)
  mailBuyer(tx, order, { template: 'order_refunded', data: { orderId, amountMinor } }, now)
}
