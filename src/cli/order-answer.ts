import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { formatMoney, toMinor } from '../platform/money.ts'
import { showOrder } from '../shop/customers/admin-orders.ts'
import type { AdminOrder } from '../shop/customers/admin-orders.ts'
import type { ShipmentView } from '../shop/shipments/find.ts'
import { buyerLines } from './buyer-lines.ts'
import type { Answer } from './output.ts'
import { plain } from './plain.ts'
import { table, timeCell, timeText } from './table.ts'

/** Who moves an order, in its history. */
export const by = 'operator'

/** The id of an order, as an argument. @throws AppError USAGE */
export function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new AppError('USAGE', 'The order must be a number such as 12.')
  return Number(text)
}

/**
 * The answer of a command about one order, after what the command did.
 *
 * @throws AppError NOT_FOUND
 */
export function answer(app: App, id: number, did: { json?: object; lines?: readonly string[] } = {}): Answer {
  const { order, history } = showOrder(app.db, id)
  const moves = history.map((row) => [timeCell(row.at), row.from ?? '', row.to, row.by, row.reason])
  return {
    json: { order, history, ...did.json },
    human: [
      ...(did.lines ?? []),
      `Order ${order.id}: ${order.status}, ${money(order, order.total)}, ${plain(order.email ?? 'no email')}`,
      ...(order.renewalOf === null ? [] : [`Renewal of the subscription that order ${order.renewalOf} started`]),
      `Payment: ${order.paymentStatus ?? 'not started'}; refunded ${money(order, order.refunded)}`,
      ...order.lineItems.map((item) => `  ${item.quantity} × ${item.name}: ${money(order, item.total)}`),
      ...order.shipments.map(shipmentLine),
      ...order.coupons.map((coupon) => `  Coupon ${coupon.code}: ${money(order, coupon.discount)} off`),
      ...buyerLines(order),
      table(['At', 'From', 'To', 'By', 'Reason'], moves)
    ]
  }
}

function shipmentLine({ shippedAt, carrier, tracking, lines }: ShipmentView): string {
  const how = [carrier, tracking].filter((part) => part !== null).join(' ')
  const goods = lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')
  return plain(`  Shipped ${timeText(shippedAt)}${how === '' ? '' : ` with ${how}`}: ${goods}`)
}

function money(order: AdminOrder, amount: number): string {
  return formatMoney(toMinor(amount, order.currency), order.currency)
}
