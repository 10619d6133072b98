import type { Db, Tx } from '../../platform/db/database.ts'
import { queueMail, queueMailToShop } from '../mail/queue.ts'
import type { MailTemplate, QueuedMail } from '../mail/queue.ts'
import { needsAccount } from '../benefits/give.ts'
import { historyOf, itemsOf } from './find.ts'
import type { OrderRow } from './find.ts'
import { isPaidStatus } from './states.ts'

const minuteMs = 60_000
/** A buyer whose card was declined usually pays in another way at once, and then needs no email about the failure. */
const failureDelayMs = 15 * minuteMs
/** Some payments are at the bank for a few seconds only. Their buyer needs no email beside the receipt. */
const bankDelayMs = minuteMs

/** Queues the emails about a stored move: to the buyer, and to the shop about a new order. */
export function mailMove(tx: Tx, before: OrderRow, after: OrderRow, now: number): void {
  const orderId = after.id
  if (isAwaited(after)) {
    mailBuyer(tx, after, { template: 'order_received', data: { orderId, waitsFor: 'transfer' } }, now)
    queueMailToShop(tx, { template: 'shop_new_order', data: { orderId } }, now)
  }
  if (isInQuestion(after) && before.paidAt === null)
    mailBuyer(tx, after, { template: 'order_received', data: { orderId, waitsFor: 'shop' } }, now)
  if (after.status === 'failed') mailFailure(tx, after, now)
  if (!isPaidStatus(after.status) || isPaidStatus(before.status)) return
  const history = historyOf(tx, orderId)
  if (history.filter(({ to }) => isPaidStatus(to)).length > 1) return
  mailBuyer(tx, after, { template: 'order_receipt', data: { orderId } }, now)
  mailClaim(tx, after, now)
  // The shop has heard of an order on hold: as a new order, or by a warning about its payment.
  if (before.status === 'on-hold') return
  queueMailToShop(tx, { template: 'shop_new_order', data: { orderId } }, now)
}

/** Queues the email with the link that opens an account, if the order gives its guest something that needs one. */
export function mailClaim(tx: Tx, order: OrderRow, now: number): void {
  if (order.renewalOf !== null || !waitsForAccount(tx, order)) return
  mailBuyer(tx, order, { template: 'claim_order', data: { orderId: order.id } }, now)
}

/** Whether a guest bought something with this order that only an account can use. */
export function waitsForAccount(db: Db, { id, userId, status }: OrderRow): boolean {
  return userId === null && isPaidStatus(status) && needsAccount(itemsOf(db, id))
}

/** Queues the email about an order whose payment the buyer's bank has not decided about. */
export function mailWaitingForBank(tx: Tx, order: OrderRow, now: number): void {
  const data = { orderId: order.id, waitsFor: 'bank' } as const
  mailBuyer(tx, order, { template: 'order_received', data, sendAt: now + bankDelayMs }, now)
}

/** Queues an email to the buyer of an order, unless the order has no email. */
export function mailBuyer<T extends MailTemplate>(
  tx: Tx,
  { email }: Pick<OrderRow, 'email'>,
  mail: QueuedMail<T>,
  now: number
): void {
  if (email !== null) queueMail(tx, { ...mail, recipient: email }, now)
}

/** Whether an order waits for a payment by hand, such as a bank transfer. */
export function isAwaited({ status, paidAt }: Pick<OrderRow, 'status' | 'paidAt'>): boolean {
  return status === 'on-hold' && paidAt === null
}

/** Whether an order is paid but on hold, because its stock or coupon is gone or its payment is disputed. */
export function isInQuestion({ status, paidAt }: Pick<OrderRow, 'status' | 'paidAt'>): boolean {
  return status === 'on-hold' && paidAt !== null
}

function mailFailure(tx: Tx, order: OrderRow, now: number): void {
  const moveId = historyOf(tx, order.id).at(-1)?.id ?? 0
  const data = { orderId: order.id, moveId }
  mailBuyer(tx, order, { template: 'payment_failed', data, sendAt: now + failureDelayMs }, now)
}
