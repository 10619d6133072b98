import type { MailData } from '../mail/queue.ts'
import type { ShopContext } from '../context.ts'
import { formatMoney } from '../../platform/money.ts'
import { historyOf, itemsOf, countOrdersBefore, hasOrderSince } from '../orders/find.ts'
import { isAwaited, isInQuestion } from '../orders/order-mails.ts'
import type { OrderRow } from '../orders/find.ts'
import { orderPageUrl } from '../settings/page-url.ts'
import { setting } from '../settings/settings.ts'
import { needsAddress } from '../shipping/zones.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'
import { formatDay, formatTime } from './email-times.ts'
import { getOrderWithEmail, orderFacts, orderTable, tryAgain, viewOrder } from './order-emails.ts'

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs
/** Of the unpaid orders that are placed with one email within an hour, this many cause emails. */
const mostUnpaidPerHour = 5

/**
 * The confirmation of an order that is not paid yet, or not confirmed: how to transfer the money, or who has to decide. A
 * buyer who pays at once gets the receipt only.
 *
 * @throws ObsoleteEmailError when the order does not exist or wait any more, or its buyer is erased
 */
export function orderReceivedEmail(shop: ShopContext, data: MailData['order_received']): Email {
  const order = getUnconfirmed(shop, data.orderId)
  const waits = { transfer: isAwaited(order), bank: order.status === 'pending', shop: isInQuestion(order) }
  if (!waits[data.waitsFor]) throw new ObsoleteEmailError('the order is not waiting')
  const name = setting(shop.db, 'shop.name')
  const total = formatMoney(order.totalMinor, order.currency)
  const next = {
    transfer: [`Please pay ${total}.`, setting(shop.db, 'payments.manualInstructions')],
    bank: [
      "Your bank has not confirmed the payment yet. We will email you when it has. You don't need to do anything."
    ],
    shop: [
      `We have received your payment of ${total}. We have to check the order before we confirm it. We will email you.`
    ]
  }
  return {
    subject: `We have received your order ${order.id} at ${name}`,
    opening: [`Thank you for your order at ${name}.`, ...next[data.waitsFor]],
    facts: [...orderFacts(order), ...(data.waitsFor === 'transfer' ? [payBy(shop, order)] : [])],
    table: orderTable(shop, order),
    action: viewOrder(shop, order),
    closing: [],
    links: {}
  }
}

/**
 * The notice that a payment failed, with a link to try again.
 *
 * @throws ObsoleteEmailError when the order has moved since or does not exist, when its buyer has ordered again or is
 *   erased
 */
export function paymentFailedEmail(shop: ShopContext, data: MailData['payment_failed']): Email {
  const order = getUnconfirmed(shop, data.orderId)
  const failure = historyOf(shop.db, order.id).at(-1)
  if (failure?.id !== data.moveId) throw new ObsoleteEmailError('the order has moved since')
  if (hasOrderSince(shop.db, order, failure.at)) throw new ObsoleteEmailError('its buyer has ordered again')
  const name = setting(shop.db, 'shop.name')
  const total = formatMoney(order.totalMinor, order.currency)
  return {
    subject: `The payment for your order ${order.id} at ${name} did not go through`,
    opening: [
      `The payment of ${total} for your order ${order.id} did not go through. You were not charged.`,
      'You can try again, also with another payment method. Until then the items are not reserved for you.'
    ],
    table: orderTable(shop, order),
    action: tryAgain(shop, order),
    closing: ["If you don't want the order any more, you don't need to do anything."],
    links: {}
  }
}

/**
 * The link on which the buyer pays an order that an operator entered for them, and until when.
 *
 * @throws ObsoleteEmailError when the order does not exist or wait for its payment any more, or its buyer is erased
 */
export function paymentLinkEmail(shop: ShopContext, data: MailData['payment_link']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  if (order.status !== 'pending') throw new ObsoleteEmailError('the order is not waiting for its payment')
  const name = setting(shop.db, 'shop.name')
  const asksAddress = needsAddress(itemsOf(shop.db, order.id), order.shippingMethod) && order.shippingAddress === null
  return {
    subject: `Your order ${order.id} at ${name}: the link to pay it`,
    opening: [
      `We have prepared order ${order.id} for you. Please pay ${formatMoney(order.totalMinor, order.currency)} with this link by ${formatTime(order.holdEndsAt ?? order.createdAt)}. Until then, we keep the items for you.`,
      ...(asksAddress ? ['The page asks for your address, and adds the shipping.'] : [])
    ],
    facts: orderFacts(order),
    table: orderTable(shop, order),
    action: { label: 'Pay the order', url: orderPageUrl(shop, 'emails.payUrl', order.publicToken) },
    closing: ["If you don't want the order, you don't need to do anything."],
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
  if (!isAwaited(order)) throw new ObsoleteEmailError('the order is not waiting')
  const name = setting(shop.db, 'shop.name')
  return {
    subject: `Your order ${order.id} at ${name} is not paid yet`,
    opening: [
      `We have not received your payment for order ${order.id} yet. We will cancel the order on ${formatDay(data.endsAt)}.`,
      setting(shop.db, 'payments.manualInstructions')
    ],
    table: orderTable(shop, order),
    action: viewOrder(shop, order),
    closing: ["If you have already paid, you don't need to do anything else."],
    links: {}
  }
}

/**
 * Anyone can order with another person's email without paying, so these emails are limited, and contain no address.
 *
 * @throws ObsoleteEmailError past the limit, when the order does not exist, and when its buyer is erased
 */
function getUnconfirmed(shop: ShopContext, orderId: number): OrderRow {
  const order = getOrderWithEmail(shop, orderId)
  const isMany = countOrdersBefore(shop.db, order, hourMs, mostUnpaidPerHour) >= mostUnpaidPerHour
  if (isMany) throw new ObsoleteEmailError('too many orders were placed with its email')
  return order
}

/** Counted from when the buyer chose the transfer, as the end of the order is. */
function payBy(shop: ShopContext, { updatedAt }: OrderRow): { label: string; value: string } {
  return { label: 'Please pay by', value: formatDay(updatedAt + setting(shop.db, 'payments.manualDays') * dayMs) }
}
