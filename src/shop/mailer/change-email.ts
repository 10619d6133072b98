import type { MailData } from '../mail/queue.ts'
import type { ShopContext } from '../context.ts'
import { changesOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import type { OrderDetails } from '../orders/schema.ts'
import { wordsOf } from '../settings/language.ts'
import type { Words } from '../settings/language.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email, EmailBlock } from './email.ts'
import { addressLines, getOrderWithEmail, viewDocument, viewOrder } from './order-emails.ts'

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
  return {
    subject: t('mail.changed.subject', { order: order.id, shop: name }),
    opening: [t('mail.changed.text', { order: order.id, shop: name })],
    action: viewOrder(shop, order),
    ...viewDocument(shop, order, 'invoice'),
    blocks: [
      block(t('mail.changed.before'), linesOf(order, change.before, words)),
      block(t('mail.changed.now'), linesOf(order, change.after, words))
    ],
    closing: [t('mail.changed.wrong')],
    links: {}
  }
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
