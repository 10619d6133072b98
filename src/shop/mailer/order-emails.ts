import type { MailData } from '../mail/queue-mail.ts'
import { formatMoney } from '../../platform/money.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { ShopContext } from '../context.ts'
import { findInvoiceOfOrder } from '../benefits/subscriptions.ts'
import { couponsOf, findOrder, itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/rows.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email, EmailTable } from './email.ts'
import { formatDay } from './email-times.ts'

/**
 * The receipt of a paid order: its lines, coupons and total, and a link to the order's page. The receipt of a renewal
 * names the period that it paid for.
 *
 * @throws ObsoleteEmailError when the order does not exist or its buyer is erased
 */
export function receiptEmail(shop: ShopContext, data: MailData['order_receipt']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  const name = setting(shop.db, 'shop.name')
  const toShip = needsShipping(itemsOf(shop.db, order.id))
  return {
    subject: `Your order ${order.id} at ${name}`,
    opening: [renewalText(shop, order) ?? `Thank you for your order at ${name}. We have received your payment.`],
    table: tableOf(shop, order),
    action: { label: 'View your order', url: `${shop.publicUrl()}/checkout/done/${order.publicToken}` },
    closing: toShip ? ['We are preparing your order for shipping.'] : [],
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
    action: { label: 'View your order', url: `${shop.publicUrl()}/checkout/done/${order.publicToken}` },
    closing: [],
    links: {}
  }
}

/**
 * Reminds the buyer of an order that waits for a bank transfer, a day before it is cancelled.
 *
 * @throws ObsoleteEmailError when the order does not exist or wait any more, or its buyer is erased
 */
export function paymentReminderEmail(shop: ShopContext, data: MailData['payment_reminder']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  if (order.status !== 'on-hold' || order.paidAt !== null) throw new ObsoleteEmailError('the order is not waiting')
  const name = setting(shop.db, 'shop.name')
  return {
    subject: `Your order ${order.id} at ${name} is not paid yet`,
    opening: [
      `We have not received your payment for order ${order.id} yet. We will cancel the order on ${formatDay(data.endsAt)}.`,
      setting(shop.db, 'payments.manualInstructions')
    ],
    table: tableOf(shop, order),
    action: { label: 'View your order', url: `${shop.publicUrl()}/checkout/done/${order.publicToken}` },
    closing: ["If you have already paid, you don't need to do anything else."],
    links: {}
  }
}

/** What was renewed and until when; null for an order that is not a renewal. */
function renewalText(shop: ShopContext, order: OrderRow): string | null {
  const invoice = findInvoiceOfOrder(shop.db, order.id)
  if (invoice === undefined) return null
  const [from, until] = [formatDay(invoice.periodStart), formatDay(invoice.periodEnd)]
  return `Your subscription at ${setting(shop.db, 'shop.name')} is renewed from ${from} to ${until}. We have received your payment.`
}

/**
 * Erasing an account keeps its orders and their amounts, but removes the email address.
 *
 * @throws ObsoleteEmailError when the order does not exist or its buyer is erased
 */
export function getOrderWithEmail(shop: ShopContext, orderId: number): OrderRow {
  const order = findOrder(shop.db, orderId)
  if (order === undefined || order.email === null) throw new ObsoleteEmailError("the order's buyer is erased")
  return order
}

function tableOf(shop: ShopContext, order: OrderRow): EmailTable {
  const money = (minor: number): string => formatMoney(minor, order.currency)
  const lines = itemsOf(shop.db, order.id).map((item) => ({
    label: `${item.quantity} × ${item.name}`,
    amount: money(item.unitPriceMinor * item.quantity)
  }))
  const discounts = couponsOf(shop.db, order.id)
    .filter((coupon) => coupon.discountMinor > 0)
    .map((coupon) => ({ label: `Coupon ${coupon.code}`, amount: money(-coupon.discountMinor) }))
  return { lines, sums: [...discounts, { label: 'Total', amount: money(order.totalMinor) }] }
}
