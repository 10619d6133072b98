import type { MailData } from '../mail/queue.ts'
import { formatMoney } from '../../platform/money.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { ShopContext } from '../context.ts'
import { findOrder, itemsOf } from '../orders/find.ts'
import { isAwaited } from '../orders/order-mails.ts'
import type { OrderRow } from '../orders/find.ts'
import { isPaidStatus } from '../orders/states.ts'
import { openWarnings } from '../payments/warnings.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'
import { orderFacts, orderTable } from './order-emails.ts'

// Emails to the shop itself contain no personal data of buyers: erasing a person cannot reach the shop's mailbox.

/** A longer email is cut off by some mail programs. */
const mostWarnings = 20

/**
 * Tells the shop of a new order: paid, or waiting for a bank transfer.
 *
 * @throws ObsoleteEmailError when the order does not exist
 */
export function newOrderEmail(shop: ShopContext, data: MailData['shop_new_order']): Email {
  const order = findOrder(shop.db, data.orderId)
  if (order === undefined) throw new ObsoleteEmailError('the order does not exist')
  const isPaid = isPaidStatus(order.status)
  const isPickedUp = order.shippingMethod?.pickup === true
  const toShip = isPaid && needsShipping(itemsOf(shop.db, order.id))
  return {
    subject: `[${setting(shop.db, 'shop.name')}] New order ${order.id}: ${formatMoney(order.totalMinor, order.currency)}`,
    opening: [
      `Order ${order.id} ${stateText(order)}.`,
      ...(order.renewalOf === null ? [] : [`It renews the subscription of order ${order.renewalOf}.`]),
      ...(toShip ? [isPickedUp ? 'The buyer picks it up in the shop.' : 'It has something to ship.'] : [])
    ],
    facts: orderFacts(order),
    table: orderTable(shop, order),
    closing: [
      `To see the buyer and the addresses, run "shopstead orders show ${order.id}".`,
      ...(isAwaited(order) ? [`When the money has arrived, run "shopstead orders paid ${order.id}".`] : [])
    ],
    links: {}
  }
}

/** A retry can send the email when the order has moved on. */
function stateText(order: OrderRow): string {
  if (isPaidStatus(order.status)) return 'is paid'
  return isAwaited(order) ? 'waits for a bank transfer' : `is ${order.status} now`
}

/**
 * Tells the shop of payments that an operator has to look at: all open warnings from `data.warningId` on.
 *
 * @throws ObsoleteEmailError when all of them are closed
 */
export function paymentWarningEmail(shop: ShopContext, data: MailData['shop_payment_warning']): Email {
  const warnings = openWarnings(shop.db).filter(({ id }) => id >= data.warningId)
  if (warnings.length === 0) throw new ObsoleteEmailError('the payment warnings are closed')
  const shown = warnings.slice(0, mostWarnings).map(({ message }) => message)
  const count = warnings.length === 1 ? 'A payment needs' : `${warnings.length} payments need`
  return {
    subject: `[${setting(shop.db, 'shop.name')}] ${count} your attention`,
    opening: [...shown, ...(warnings.length > shown.length ? [`And ${warnings.length - shown.length} more.`] : [])],
    closing: ['To see all open warnings, run "shopstead orders warnings".'],
    links: {}
  }
}
