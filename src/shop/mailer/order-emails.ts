import type { MailData } from '../mail/queue-mail.ts'
import { formatMoney } from '../../platform/money.ts'
import type { ShopContext } from '../context.ts'
import { couponsOf, findOrder, itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/rows.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email, EmailTable } from './email.ts'

export function receiptEmail(shop: ShopContext, data: MailData['order_receipt']): Email {
  const order = orderOfSomebody(shop, data.orderId)
  const name = setting(shop.db, 'shop.name')
  const toShip = itemsOf(shop.db, order.id).some((item) => item.type === 'physical')
  return {
    subject: `Your order ${order.id} at ${name}`,
    opening: [`Thank you for your order at ${name}. We have received your payment.`],
    table: tableOf(shop, order),
    action: { label: 'See your order', url: `${shop.publicUrl()}/checkout/done/${order.publicToken}` },
    closing: toShip ? ['We are getting it ready to be sent to you.'] : [],
    links: {}
  }
}

export function refundEmail(shop: ShopContext, data: MailData['order_refunded']): Email {
  const order = orderOfSomebody(shop, data.orderId)
  const name = setting(shop.db, 'shop.name')
  const amount = formatMoney(data.amountMinor, order.currency)
  const what = data.amountMinor === order.totalMinor ? 'in full' : 'in part'
  return {
    subject: `Refund for your order ${order.id} at ${name}`,
    opening: [
      `We have refunded ${amount} for your order ${order.id} ${what}.`,
      'It goes back the way you paid. Banks can take a few days until it shows.'
    ],
    action: { label: 'See your order', url: `${shop.publicUrl()}/checkout/done/${order.publicToken}` },
    closing: [],
    links: {}
  }
}

/** An erased account's orders keep their sums, but nobody may be written to about them. */
function orderOfSomebody(shop: ShopContext, orderId: number): OrderRow {
  const order = findOrder(shop.db, orderId)
  if (order === undefined || order.email === null) throw new ObsoleteEmailError('the buyer has gone')
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
