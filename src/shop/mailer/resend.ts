import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { queueMail } from '../mail/queue-mail.ts'
import type { MailTemplate, QueuedMail } from '../mail/queue-mail.ts'
import { getOrder } from '../orders/find.ts'
import { isAwaited } from '../orders/order-mails.ts'
import type { OrderRow } from '../orders/rows.ts'
import { setting } from '../settings/settings.ts'
import { progressOf, shipmentsOf } from '../shipments/find.ts'

/** The emails about an order that an operator can send again. */
export const resendable = ['order_receipt', 'order_received', 'order_shipped'] as const
export type Resendable = (typeof resendable)[number]

/**
 * Queues an email about an order again, to its buyer: by default the receipt of a paid order, or the instructions of one
 * that waits for a transfer. `order_shipped` is about the latest shipment.
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
    const mail = mailOf(tx, order, template ?? (order.paidAt === null ? 'order_received' : 'order_receipt'))
    if (order.email === null) throw new AppError('CONFLICT', `Order ${orderId} has no email.`)
    const off: readonly MailTemplate[] = setting(tx, 'emails.off')
    if (off.includes(mail.template))
      throw new AppError('CONFLICT', `The setting emails.off switches the email ${mail.template} off.`)
    queueMail(tx, { ...mail, recipient: order.email }, now)
    return { template: mail.template, to: order.email }
  })
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
  const why = {
    order_receipt: 'has not been paid',
    order_received: 'does not wait for a transfer',
    order_shipped: 'has no shipment'
  }
  throw new AppError('CONFLICT', `Order ${orderId} ${why[template]}.`)
}
