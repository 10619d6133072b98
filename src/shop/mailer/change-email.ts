import type { MailData } from '../mail/queue.ts'
import type { ShopContext } from '../context.ts'
import { dueMinor } from '../orders/refunds/credits.ts'
import { changesOf, getOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import type { OrderDetails } from '../orders/schema.ts'
import { findReturn, linesOfReturn } from '../shipments/returns.ts'
import { returnInstructions, wordsOf } from '../settings/language.ts'
import type { Words } from '../settings/language.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import { orderPageUrl } from '../settings/page-url.ts'
import type { Email, EmailBlock, EmailLink } from './email.ts'
import { addressLines, getOrderWithEmail, orderFacts, viewDocument, viewOrder } from './order-emails.ts'

/**
 * What the shop has changed in an order: each part as it was and as it is.
 *
 * @throws ObsoleteEmailError when the change does not exist, or the buyer is erased
 */
export function orderChangedEmail(shop: ShopContext, data: MailData['order_changed']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  const change = changesOf(shop.db, order.id).find(({ id }) => id === data.changeId)
  if (change === undefined) throw new ObsoleteEmailError('the change does not exist')
  const words = wordsOf(shop)
  const { t } = words
  const name = setting(shop.db, 'shop.name')
  const due = change.additionId === null ? [] : dueFor(shop, change.additionId, words)
  return {
    subject: t('mail.changed.subject', { order: order.id, shop: name }),
    opening: [t('mail.changed.text', { order: order.id, shop: name }), ...due.map(({ text }) => text)],
    action: due[0]?.action ?? viewOrder(shop, order),
    ...viewDocument(shop, order, 'invoice'),
    blocks: [
      block(t('mail.changed.before'), linesOf(order, change.before, words)),
      block(t('mail.changed.now'), linesOf(order, change.after, words))
    ],
    closing: [t('mail.changed.wrong')],
    links: {}
  }
}

/** What the buyer has to pay for a change, where and until when; nothing if it is paid or given up. */
function dueFor(
  shop: ShopContext,
  additionId: number,
  { t, money, time }: Words
): { text: string; action: EmailLink }[] {
  const addition = getOrder(shop.db, additionId)
  if (addition.status !== 'pending') return []
  const amount = money(dueMinor(shop.db, addition), addition.currency)
  const text = t('mail.changed.due', { amount, until: time(addition.holdEndsAt ?? addition.createdAt) })
  const url = orderPageUrl(shop, 'emails.payUrl', addition.publicToken)
  return [{ text, action: { label: t('mail.changed.pay', { amount }), url } }]
}

function block(title: string, lines: string[]): EmailBlock {
  return { title, lines: lines.length === 0 ? ['–'] : lines }
}

/** The parts of an order that were changed, each on its lines. */
function linesOf(order: OrderRow, details: OrderDetails, { t, textLanguage, money }: Words): string[] {
  const { firstName, lastName, companyName, phone, email, shipTo, shippingMethod, lines, totalMinor } = details
  const named = [
    { key: 'email', value: email },
    { key: 'mail.changed.name', value: [firstName, lastName].filter(Boolean).join(' ') },
    { key: 'account.company', value: companyName },
    { key: 'account.phone', value: phone },
    { key: 'mail.changed.shipping', value: shippingMethod },
    { key: 'sum.total', value: totalMinor === undefined ? undefined : money(totalMinor, order.currency) }
  ] as const
  return [
    ...(lines ?? []).map((line) => `${line.quantity} × ${line.name}`),
    // A line break would let the buyer write lines of their own.
    ...named.flatMap(({ key, value }) => (value ? [`${t(key)}: ${value.replaceAll(/\s+/g, ' ')}`] : [])),
    ...(shipTo === undefined ? [] : addressLines(shipTo, {}, textLanguage))
  ]
}

/**
 * The notice that a change of an order was not paid for, so that the order stays as it is.
 *
 * @throws ObsoleteEmailError when the order does not exist or its buyer is erased
 */
export function changeDroppedEmail(shop: ShopContext, data: MailData['change_dropped']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  const { t } = wordsOf(shop)
  const about = { order: order.id, addition: data.additionId, shop: setting(shop.db, 'shop.name') }
  return {
    subject: t('mail.dropped.subject', about),
    opening: [t('mail.dropped.text', about), t('mail.dropped.still')],
    action: viewOrder(shop, order),
    closing: [],
    links: {}
  }
}

/**
 * What a buyer sends back, with what number and where to, and what they get for it.
 *
 * @throws ObsoleteEmailError when the return is received or given up, or the buyer is erased
 */
export function returnExpectedEmail(shop: ShopContext, data: MailData['return_expected']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  const row = findReturn(shop.db, data.returnId)
  if (row?.state !== 'expected') throw new ObsoleteEmailError('the shop does not wait for the return')
  const { t } = wordsOf(shop)
  const about = { order: order.id, number: row.id, shop: setting(shop.db, 'shop.name') }
  const goods = linesOfReturn(shop.db, row).map(({ quantity, name }) => `${quantity} × ${name}`)
  return {
    subject: t('mail.return.subject', about),
    opening: [t('mail.return.text', about), returnInstructions(shop)],
    facts: [{ label: t('mail.return.number'), value: String(row.id) }, ...orderFacts(shop, order)],
    action: viewOrder(shop, order),
    blocks: [{ title: t('mail.return.goods'), lines: goods }],
    closing: [t(row.exchange.length === 0 ? 'mail.return.refund' : 'mail.return.exchange')],
    links: {}
  }
}
