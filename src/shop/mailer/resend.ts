import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { documentsOf } from '../invoices/find.ts'
import { queueMail } from '../mail/queue-mail.ts'
import type { MailTemplate, QueuedMail } from '../mail/queue-mail.ts'
import { getOrder } from '../orders/find.ts'
import { isAwaited } from '../orders/order-mails.ts'
import type { OrderRow } from '../orders/rows.ts'
import { setting } from '../settings/settings.ts'
import { progressOf, shipmentsOf } from '../shipments/find.ts'

const dayMs = 24 * 60 * 60_000

/** The emails about an order that an operator can send again. */
export const resendable = [
  'order_receipt',
  'order_received',
  'order_shipped',
  'order_refunded',
  'payment_link',
  'payment_reminder'
] as const
export type Resendable = (typeof resendable)[number]

/**
 * Queues an email about an order again, to its buyer: by default the receipt of a paid order, or the instructions of one
 * that waits for a transfer, or the link of one that waits for its payment. `order_shipped` is about the latest shipment,
 * and `order_refunded` about the latest credit note.
 *
 * @throws AppError NOT_FOUND; CONFLICT when the order has no email, the email does not fit the order's state, or
 *   `emails.off` names it
 */
export function resendEmail(
  db: Db,
  orderId: number,
  template: Resendable | undefined,
  now: number
): { template: Resendable; to: string } {
  return write(db, (tx) => {
    const order = getOrder(tx, orderId)
    const mail = mailOf(tx, order, template ?? usualOf(order))
    if (order.email === null) throw new AppError('CONFLICT', `Order ${orderId} has no email.`)
    const off: readonly MailTemplate[] = setting(tx, 'emails.off')
    if (off.includes(mail.template))
      throw new AppError('CONFLICT', `The setting emails.off switches the email ${mail.template} off.`)
    queueMail(tx, { ...mail, recipient: order.email }, now)
    return { template: mail.template, to: order.email }
  })
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
  const credited = documentsOf(tx, orderId).findLast(({ kind }) => kind === 'credit_note')
  if (template === 'order_refunded' && credited !== undefined)
    return { template, data: { orderId, amountMinor: credited.totalMinor } }
  if (template === 'payment_link' && order.status === 'pending') return { template, data: { orderId } }
  if (template === 'payment_reminder' && isAwaited(order))
    return { template, data: { orderId, endsAt: order.updatedAt + setting(tx, 'payments.manualDays') * dayMs } }
  const why = {
    order_receipt: 'has not been paid',
    order_received: 'does not wait for a transfer',
    order_shipped: 'has no shipment',
    order_refunded: 'has not been refunded',
    payment_link: 'does not wait for its payment',
    payment_reminder: 'does not wait for a transfer'
  }
  throw new AppError('CONFLICT', `Order ${orderId} ${why[template]}.`)
}
