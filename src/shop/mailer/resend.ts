import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { currentDocuments } from '../invoices/find.ts'
import { lastMail, queueMail } from '../mail/queue.ts'
import type { MailTemplate, QueuedMail } from '../mail/queue.ts'
import { getOrder } from '../orders/find.ts'
import { isAwaited } from '../orders/order-mails.ts'
import type { OrderRow } from '../orders/find.ts'
import { setting } from '../settings/settings.ts'
import { progressOf, shipmentsOf } from '../shipments/find.ts'
import { composeEmail } from './compose.ts'
import { ObsoleteEmailError } from './email.ts'

/** Only the email itself says what happened, such as the amount of a renewal that failed. */
const repeatable = [
  'order_changed',
  'return_expected',
  'payment_failed',
  'refund_failed',
  'renewal_failed',
  'subscription_cancelled',
  'subscription_ended'
] as const
const dayMs = 24 * 60 * 60_000

/** The emails about an order that an operator can send again. */
export const resendable = [
  'order_receipt',
  'order_received',
  'order_shipped',
  'order_refunded',
  'payment_link',
  'payment_reminder',
  ...repeatable
] as const
export type Resendable = (typeof resendable)[number]

/**
 * Queues an email about an order again, to its buyer: by default the receipt of a paid order, or the instructions of one
 * that waits for a transfer, or the link of one that waits for its payment. `order_shipped` is about the latest shipment,
 * and `order_refunded` about the latest credit note. Emails about a failure or a subscription are repeated as they were
 * sent last.
 *
 * @throws AppError NOT_FOUND; CONFLICT when the order has no email, the email does not fit the order's state, was not sent
 *   in the last 30 days, or `emails.off` names it
 */
export function resendEmail(
  shop: ShopContext,
  orderId: number,
  template: Resendable | undefined,
  now: number
): { template: Resendable; to: string } {
  return write(shop.db, (tx) => {
    const order = getOrder(tx, orderId)
    const mail = mailOf(tx, order, template ?? usualOf(order))
    if (order.email === null) throw new AppError('CONFLICT', `Order ${orderId} has no email.`)
    assertSendable(shop, { ...mail, recipient: order.email }, now)
    queueMail(tx, { ...mail, recipient: order.email }, now)
    return { template: mail.template, to: order.email }
  })
}

/** @throws AppError CONFLICT when `emails.off` names the email, or the mailer would drop it as obsolete */
export function assertSendable(
  shop: ShopContext,
  mail: { template: MailTemplate; data: object; recipient: string },
  now: number
): void {
  const off: readonly MailTemplate[] = setting(shop.db, 'emails.off')
  if (off.includes(mail.template))
    throw new AppError('CONFLICT', `The setting emails.off switches the email ${mail.template} off.`)
  try {
    composeEmail(shop, mail, now)
  } catch (error) {
    if (!(error instanceof ObsoleteEmailError)) throw error
    throw new AppError('CONFLICT', `The email ${mail.template} is obsolete: ${error.message}.`)
  }
}

function usualOf({ paidAt, status }: OrderRow): Resendable {
  return paidAt !== null ? 'order_receipt' : status === 'pending' ? 'payment_link' : 'order_received'
}

function mailOf(tx: Tx, order: OrderRow, template: Resendable): QueuedMail<Resendable> & { template: Resendable } {
  const { id: orderId } = order
  if (template === 'order_received' && isAwaited(order)) return { template, data: { orderId, waitsFor: 'transfer' } }
  if (template === 'order_receipt' && order.paidAt !== null) return { template, data: { orderId } }
  const shipment = shipmentsOf(tx, orderId).at(-1)
  if (template === 'order_shipped' && shipment !== undefined) {
    const isPart = progressOf(tx, orderId).some(({ left }) => left > 0)
    return { template, data: { orderId, shipmentId: shipment.id, isPart } }
  }
  const credited = currentDocuments(tx, orderId).notes.at(-1)
  if (template === 'order_refunded' && credited !== undefined)
    return { template, data: { orderId, amountMinor: credited.totalMinor } }
  if (template === 'payment_link' && order.status === 'pending') return { template, data: { orderId } }
  if (template === 'payment_reminder' && isAwaited(order))
    return { template, data: { orderId, endsAt: order.updatedAt + setting(tx, 'payments.manualDays') * dayMs } }
  const repeated = repeatable.find((one) => one === template)
  if (repeated !== undefined) return { template: repeated, data: lastMail(tx, repeated, { orderId }).data }
  const why: Partial<Record<Resendable, string>> = {
    order_receipt: 'has not been paid',
    order_received: 'does not wait for a transfer',
    order_shipped: 'has no shipment',
    order_refunded: 'has not been refunded',
    payment_link: 'does not wait for its payment',
    payment_reminder: 'does not wait for a transfer'
  }
  throw new AppError('CONFLICT', `Order ${orderId} ${why[template] ?? ''}.`)
}
