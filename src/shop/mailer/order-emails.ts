import type { MailData } from '../mail/queue-mail.ts'
import { formatMoney } from '../../platform/money.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { ShopContext } from '../context.ts'
import { findRenewed } from '../benefits/records.ts'
import { findInvoiceOfOrder } from '../benefits/subscriptions.ts'
import { itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { setting } from '../settings/settings.ts'
import type { Email } from './email.ts'
import { formatDay } from './email-times.ts'
import { addressBlocks, getOrderWithEmail, orderFacts, orderTable, viewDocument, viewOrder } from './order-parts.ts'

/**
 * The receipt of a paid order: its number, date, lines, discounts, total and addresses, and links to the
 * order's page and its invoice.
 * The receipt of a renewal names the period that it paid for.
 *
 * @throws ObsoleteEmailError when the order does not exist or its buyer is erased
 */
export function receiptEmail(shop: ShopContext, data: MailData['order_receipt']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  const name = setting(shop.db, 'shop.name')
  const items = itemsOf(shop.db, order.id)
  const renews = findRenewed(shop.db, order.renewalOf ?? order.id) !== undefined
  const period = renewedPeriod(shop, order)
  const renewed = `Your subscription at ${name} is renewed`
  return {
    subject: period === null ? `Your order ${order.id} at ${name}` : `${renewed}: order ${order.id}`,
    opening: [
      `${period === null ? `Thank you for your order at ${name}.` : `${renewed} ${period}.`} ${paymentText(order)}`
    ],
    facts: orderFacts(order),
    table: orderTable(shop, order),
    action: viewOrder(shop, order),
    ...viewDocument(shop, order, 'invoice'),
    blocks: order.totalMinor > 0 ? addressBlocks(order) : [],
    closing: [
      ...preparing(order, needsShipping(items)),
      ...(renews ? ['You can end your subscription at any time. Use the link on the page of your order.'] : [])
    ],
    links: {}
  }
}

/**
 * The notice of one refund: its amount, and whether it is the whole total.
 *
 * @throws ObsoleteEmailError when the order does not exist or its buyer is erased
 */
export function refundEmail(shop: ShopContext, data: MailData['order_refunded']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  const name = setting(shop.db, 'shop.name')
  const amount = formatMoney(data.amountMinor, order.currency)
  const kind = data.amountMinor === order.totalMinor ? 'full' : 'partial'
  return {
    subject: `Refund for your order ${order.id} at ${name}`,
    opening: [
      `We have refunded ${amount} for your order ${order.id} (${kind} refund).`,
      'The money goes back to the payment method you used. It can take a few days to appear on your statement.'
    ],
    action: viewOrder(shop, order),
    ...viewDocument(shop, order, 'credit_note'),
    closing: [],
    links: {}
  }
}

/**
 * The notice that the money of a refund came back to the shop, so that the buyer does not wait for it.
 *
 * @throws ObsoleteEmailError when the order does not exist or its buyer is erased
 */
export function refundFailedEmail(shop: ShopContext, data: MailData['refund_failed']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  const name = setting(shop.db, 'shop.name')
  const amount = formatMoney(data.amountMinor, order.currency)
  return {
    subject: `The refund for your order ${order.id} at ${name} did not reach you`,
    opening: [
      `We refunded ${amount} for your order ${order.id}, but your bank or card provider returned the money to us.`,
      `We still owe you ${amount}. We will send it again, or contact you to find another way.`
    ],
    action: viewOrder(shop, order),
    closing: [],
    links: {}
  }
}

/** What happens next with goods that are shipped or picked up. */
function preparing({ shippingMethod }: OrderRow, hasGoods: boolean): string[] {
  if (!hasGoods) return []
  return shippingMethod?.pickup === true
    ? ['We will email you when you can pick up your order in our shop.']
    : ['We are preparing your order for shipping.']
}

function paymentText({ totalMinor }: OrderRow): string {
  return totalMinor === 0 ? 'There is nothing to pay.' : 'We have received your payment.'
}

/** Which period a renewal paid for; null for an order that is not a renewal. */
function renewedPeriod(shop: ShopContext, order: OrderRow): string | null {
  const invoice = findInvoiceOfOrder(shop.db, order.id)
  return invoice === undefined ? null : `from ${formatDay(invoice.periodStart)} to ${formatDay(invoice.periodEnd)}`
}
