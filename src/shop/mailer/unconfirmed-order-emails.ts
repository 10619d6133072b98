import { dueMinor } from '../orders/refunds/credits.ts'
import type { MailData } from '../mail/queue.ts'
import type { ShopContext } from '../context.ts'
import { historyOf, itemsOf, hasOrderSince } from '../orders/find.ts'
import { isAwaited, isInQuestion } from '../orders/order-mails.ts'
import type { OrderRow } from '../orders/find.ts'
import { orderPageUrl } from '../settings/page-url.ts'
import { setting } from '../settings/settings.ts'
import { needsAddress } from '../shipping/zones.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'
import { manualInstructions, wordsOf } from '../settings/language.ts'
import { getOrderWithEmail, orderFacts, orderTable, tryAgain, viewOrder } from './order-emails.ts'

const dayMs = 24 * 60 * 60_000

/**
 * The confirmation of an order that is not paid yet, or not confirmed: how to transfer the money, or who has to decide. A
 * buyer who pays at once gets the receipt only.
 *
 * @throws ObsoleteEmailError when the order does not exist or wait any more, or its buyer is erased
 */
export function orderReceivedEmail(shop: ShopContext, data: MailData['order_received']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  const waits = { transfer: isAwaited(order), bank: order.status === 'pending', shop: isInQuestion(order) }
  if (!waits[data.waitsFor]) throw new ObsoleteEmailError('the order is not waiting')
  const { t, money } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const total = money(dueMinor(shop.db, order), order.currency)
  const next = {
    transfer: [t('mail.received.pay', { total }), manualInstructions(shop)],
    bank: [t('mail.received.bank')],
    shop: [t('mail.received.check', { total })]
  }
  return {
    subject: t('mail.received.subject', { order: order.id, shop: name }),
    opening: [t('mail.receipt.thanks', { shop: name }), ...next[data.waitsFor]],
    facts: [...orderFacts(shop, order), ...(data.waitsFor === 'transfer' ? [payBy(shop, order)] : [])],
    table: orderTable(shop, order),
    action: viewOrder(shop, order),
    closing: [],
    ...(order.paidAt === null ? { budget: 'limited' } : {}),
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
  const order = getOrderWithEmail(shop, data.orderId)
  const failure = historyOf(shop.db, order.id).at(-1)
  if (failure?.id !== data.moveId) throw new ObsoleteEmailError('the order has moved since')
  if (hasOrderSince(shop.db, order, failure.at)) throw new ObsoleteEmailError('its buyer has ordered again')
  const { t, money } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const total = money(dueMinor(shop.db, order), order.currency)
  return {
    subject: t('mail.failed.subject', { order: order.id, shop: name }),
    opening: [t('mail.failed.text', { total, order: order.id }), t('mail.failed.again')],
    table: orderTable(shop, order),
    action: tryAgain(shop, order),
    closing: [t('mail.failed.leave')],
    budget: 'limited',
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
  const { t, money, time } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const asksAddress = needsAddress(itemsOf(shop.db, order.id), order.shippingMethod) && order.shippingAddress === null
  return {
    subject: t('mail.link.subject', { order: order.id, shop: name }),
    opening: [
      t('mail.link.text', {
        order: order.id,
        total: money(dueMinor(shop.db, order), order.currency),
        until: time(order.holdEndsAt ?? order.createdAt)
      }),
      ...(asksAddress ? [t('mail.link.address')] : [])
    ],
    facts: orderFacts(shop, order),
    table: orderTable(shop, order),
    action: { label: t('mail.link.button'), url: orderPageUrl(shop, 'emails.payUrl', order.publicToken) },
    closing: [t('mail.link.leave')],
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
  const { t, day } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: t('mail.reminder.subject', { order: order.id, shop: name }),
    opening: [t('mail.reminder.text', { order: order.id, day: day(data.endsAt) }), manualInstructions(shop)],
    table: orderTable(shop, order),
    action: viewOrder(shop, order),
    closing: [t('mail.reminder.paid')],
    budget: 'limited',
    links: {}
  }
}

/** Counted from when the buyer chose the transfer, as the end of the order is. */
function payBy(shop: ShopContext, { updatedAt }: OrderRow): { label: string; value: string } {
  const { t, day } = wordsOf(shop)
  return { label: t('mail.received.payBy'), value: day(updatedAt + setting(shop.db, 'payments.manualDays') * dayMs) }
}
