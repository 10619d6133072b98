import type { MailData } from '../mail/queue.ts'
import { formatMoney } from '../../platform/money.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { ShopContext } from '../context.ts'
import { findOrder, itemsOf } from '../orders/find.ts'
import { isAwaited } from '../orders/order-mails.ts'
import type { OrderRow } from '../orders/find.ts'
import { isPaidStatus } from '../orders/states.ts'
import { openWarnings } from '../payments/warnings.ts'
import { findInvitationLink } from '../desk/people.ts'
import { wordsOf } from '../settings/language.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email, EmailBlock, EmailFact } from './email.ts'
import { addressBlocks, orderFacts, orderTable } from './order-emails.ts'

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
    facts: [...orderFacts(shop, order), ...buyerFacts(order)],
    table: orderTable(shop, order),
    blocks: [...addressBlocks(shop, order), ...noteBlock(order)],
    closing: [
      `For its history, run "shopstead orders show ${order.id}".`,
      ...(isAwaited(order) ? [`When the money has arrived, run "shopstead orders paid ${order.id}".`] : [])
    ],
    links: {}
  }
}

/** Who bought, in one line each: a line break would let the buyer write facts of their own. */
function buyerFacts({ email, contact, shippingAddress, vatId }: OrderRow): EmailFact[] {
  const { firstName, lastName, companyName, phone = shippingAddress?.phone } = contact
  const facts = {
    Buyer: [firstName, lastName].filter(Boolean).join(' '),
    Company: companyName,
    Email: email,
    Phone: phone,
    'VAT id': vatId
  }
  return Object.entries(facts).flatMap(([label, value]) => (value ? [{ label, value: oneLine(value) }] : []))
}

function noteBlock({ notes }: OrderRow): EmailBlock[] {
  return notes === null ? [] : [{ title: 'Note of the buyer', lines: notes.split(/\r\n|[\r\n]/).map(oneLine) }]
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{C}]+/gu, ' ')
}

/**
 * The link by which a person of the desk makes a passkey.
 *
 * @throws ObsoleteEmailError when the link is used or expired
 */
export function deskInvitationEmail(shop: ShopContext, data: MailData['desk_invitation'], now: number): Email {
  const link = findInvitationLink(shop, data.invitationId, now)
  if (link === undefined) throw new ObsoleteEmailError('the link is used or expired')
  const { t, time } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: t('mail.desk.subject', { shop: name }),
    opening: [t('mail.desk.text', { shop: name })],
    action: { label: t('mail.desk.button'), url: link.url },
    closing: [t('mail.linkOnce', { until: time(link.expiresAt) }), t('mail.desk.ignore')],
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
  const what = warnings.some(({ kind }) => kind === 'withdrawal' || kind === 'cancellation') ? 'order' : 'payment'
  const one = what === 'order' ? 'An order' : 'A payment'
  const count = warnings.length === 1 ? `${one} needs` : `${warnings.length} ${what}s need`
  return {
    subject: `[${setting(shop.db, 'shop.name')}] ${count} your attention`,
    opening: [...shown, ...(warnings.length > shown.length ? [`And ${warnings.length - shown.length} more.`] : [])],
    closing: ['To see all open warnings, run "shopstead orders warnings".'],
    links: {}
  }
}
