import { dayText } from '../../platform/texts/languages.ts'
import type { Language } from '../../platform/texts/languages.ts'
import type { MailData } from '../mail/queue.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { ShopContext } from '../context.ts'
import { listGuestDownloads } from '../benefits/download-links.ts'
import { needsAccount } from '../benefits/give.ts'
import { claimToken, invoiceProof } from '../orders/order-links.ts'
import { waitsForAccount } from '../orders/order-mails.ts'
import { findRenewed } from '../benefits/records.ts'
import { findInvoiceOfOrder } from '../benefits/subscriptions.ts'
import { itemsOf, findOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { currentHoliday } from '../settings/holiday.ts'
import type { Holiday } from '../settings/holiday.ts'
import { setting } from '../settings/settings.ts'
import type { Email, EmailBlock, EmailFact, EmailLink, EmailPicture, EmailTable } from './email.ts'
import { wordsOf } from '../settings/language.ts'
import { findLawText } from '../settings/law-pages.ts'
import type { LawText } from '../settings/law-pages.ts'
import { renewalNote } from '../../platform/texts/renewal.ts'
import { postalLines } from '../../platform/postal/address.ts'
import { lineImage } from '../catalog/public/image.ts'
import type { Image } from '../catalog/public/shapes.ts'
import { isForBusiness } from '../invoices/e-invoice-file.ts'
import { currentDocuments } from '../invoices/find.ts'
import type { InvoiceKind } from '../invoices/find.ts'
import { toText } from '../invoices/text.ts'
import { addressPath, waitsForAddress } from '../orders/address.ts'
import type { Address, OrderContact } from '../orders/address.ts'
import { documentUrl } from '../orders/view.ts'
import { recurringOfOrder } from '../orders/renewal-order.ts'
import { takesToken } from '../orders/strategies.ts'
import { lineAmountMinor, summaryRows } from '../orders/totals.ts'
import { siteUrl } from '../payments/gateway-page.ts'
import { claimUrl, orderPageUrl } from '../settings/page-url.ts'
import { ObsoleteEmailError } from './email.ts'

/**
 * The receipt of a paid order: its number, date, lines, discounts, total and addresses, and links to the
 * order's page and its invoice.
 * The receipt of a renewal names the period that it paid for.
 *
 * @throws ObsoleteEmailError when the order does not exist or its buyer is erased
 */
export function receiptEmail(shop: ShopContext, data: MailData['order_receipt'], now: number): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  const { t, day, time } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const items = itemsOf(shop.db, order.id)
  const renews = findRenewed(shop.db, order.renewalOf ?? order.id) !== undefined
  const period = findInvoiceOfOrder(shop.db, order.id) ?? null
  const files = listGuestDownloads(shop.db, shop.keys, order.id, now).map((file) => file.name)
  const holiday = currentHoliday(shop.db, now)
  const first =
    period === null
      ? t('mail.receipt.thanks', { shop: name })
      : t('mail.receipt.renewed', { shop: name, from: day(period.periodStart), to: day(period.periodEnd) })
  return {
    subject: t(period === null ? 'mail.receipt.subject' : 'mail.receipt.renewalSubject', {
      order: order.id,
      shop: name
    }),
    opening: [`${first} ${t(order.totalMinor === 0 ? 'mail.receipt.free' : 'mail.receipt.paid')}`],
    facts: orderFacts(shop, order),
    table: orderTable(shop, order),
    action: waitsForAddress(order)
      ? { label: t('mail.receipt.enterAddress'), url: `${shop.publicUrl()}${addressPath(order)}` }
      : viewOrder(shop, order),
    ...viewDocument(shop, order, 'invoice'),
    blocks: order.totalMinor > 0 ? addressBlocks(shop, order) : [],
    closing: [
      ...(waitsForAddress(order) ? [t('mail.receipt.whereTo')] : preparing(shop, order, needsShipping(items))),
      ...(holiday === null || !needsShipping(items) ? [] : [holidayLine(shop, holiday)]),
      ...(order.deliveryConsentAt === null || period !== null
        ? []
        : [t('consent.given', { day: time(order.deliveryConsentAt) })]),
      ...(files.length > 0 ? [t('mail.receipt.files', { names: files.join(', ') })] : []),
      ...(renews ? renewalLine(shop, order) : []),
      ...(renews ? [t('mail.receipt.endAnyTime')] : [])
    ],
    ...(order.renewalOf === null ? { lawTexts: contractTexts(shop) } : {}),
    ...(order.totalMinor === 0 ? { budget: 'limited' } : {}),
    links: {}
  }
}

/**
 * The terms and the information about the right of withdrawal. A buyer gets them on a durable medium with the confirmation
 * of the contract (directive 2011/83/EU, article 8(7)).
 */
function contractTexts(shop: ShopContext): LawText[] {
  return (['terms', 'withdrawal'] as const).flatMap((page) => findLawText(shop, page) ?? [])
}

/**
 * The link to open an account, for what a guest bought and can only use with one.
 *
 * @throws ObsoleteEmailError when the order does not exist, its buyer is erased, or it does not wait for an account any more
 */
export function claimOrderEmail(shop: ShopContext, data: MailData['claim_order'], now: number): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  if (!waitsForAccount(shop.db, order)) throw new ObsoleteEmailError('the order does not wait for an account')
  const { t } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const needing = itemsOf(shop.db, order.id).filter((item) => needsAccount([item]))
  return {
    subject: t('mail.claim.subject', { order: order.id, shop: name }),
    opening: [t('mail.claim.text', { shop: name, names: needing.map((item) => item.name).join(', ') })],
    action: { label: t('mail.claim.button'), url: claimUrl(shop, claimToken(shop.keys, order, now)) },
    closing: [t('mail.link30Days')],
    budget: order.totalMinor === 0 ? 'limited' : 'counted',
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
  const { t, money } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const amount = money(data.amountMinor, order.currency)
  const kind = data.amountMinor === order.totalMinor ? 'mail.refund.full' : 'mail.refund.partial'
  return {
    subject: t('mail.refund.subject', { order: order.id, shop: name }),
    opening: [
      t(kind, { amount, order: order.id }),
      t(data.toCard === true ? 'mail.refund.toCard' : 'mail.refund.days')
    ],
    ...creditTable(shop, order, data.amountMinor),
    action: viewOrder(shop, order),
    ...viewDocument(shop, order, 'credit_note'),
    closing: [],
    links: {}
  }
}

/** What a refund gave back, by its credit note; nothing for a refund of an amount. */
function creditTable(shop: ShopContext, { id }: OrderRow, amountMinor: number): Pick<Email, 'table'> {
  const { db } = shop
  const note = currentDocuments(db, id).notes.findLast(({ totalMinor }) => totalMinor === amountMinor)
  if (note === undefined || note.document.lines.length === 0) return {}
  const { lines, sums } = toText(note, wordsOf(shop))
  return {
    table: {
      lines: lines.map(({ quantity, name, amount }) => ({ label: `${quantity} × ${name}`, amount, picture: null })),
      sums
    }
  }
}

/**
 * The notice that the money of a refund came back to the shop, so that the buyer does not wait for it.
 *
 * @throws ObsoleteEmailError when the order does not exist or its buyer is erased
 */
export function refundFailedEmail(shop: ShopContext, data: MailData['refund_failed']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  const { t, money } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const amount = money(data.amountMinor, order.currency)
  return {
    subject: t('mail.refundFailed.subject', { order: order.id, shop: name }),
    opening: [t('mail.refundFailed.text', { amount, order: order.id }), t('mail.refundFailed.owed', { amount })],
    action: viewOrder(shop, order),
    closing: [],
    links: {}
  }
}

/** What happens next with goods that are shipped or picked up. */
function preparing(shop: ShopContext, { shippingMethod }: OrderRow, hasGoods: boolean): string[] {
  if (!hasGoods) return []
  return [wordsOf(shop).t(shippingMethod?.pickup === true ? 'mail.receipt.pickup' : 'mail.receipt.preparing')]
}

/** When goods leave that are paid in a holiday, such as those of a renewal. */
function holidayLine(shop: ShopContext, { message, until }: Holiday): string {
  const { t, lang } = wordsOf(shop)
  const again = t('mail.receipt.holiday', { day: dayText(until, { lang, timeZone: 'UTC' }) })
  return [message, again].filter((part) => part !== '').join(' ')
}

/** What each renewal costs, in the receipt of the first order. */
function renewalLine(shop: ShopContext, order: OrderRow): string[] {
  const recurring = order.renewalOf === null ? recurringOfOrder(shop.db, order) : null
  const next = findRenewed(shop.db, order.id)?.currentPeriodEnd
  if (recurring === null || next === undefined) return []
  const words = wordsOf(shop)
  const { interval, totals } = recurring
  const renewal = { interval, amount: words.money(totals.totalMinor, order.currency), day: words.day(next) }
  return [renewalNote(words, renewal, order.discountMinor > 0)]
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

/** The link to the page that shows an order and its state. */
export function viewOrder(shop: ShopContext, order: OrderRow): EmailLink {
  return { label: wordsOf(shop).t('mail.viewOrder'), url: orderPageUrl(shop, 'emails.orderUrl', order.publicToken) }
}

/**
 * The link to the invoice of an order, or to the newest credit note of that, and for a business the document itself; neither
 * without one.
 */
export function viewDocument(shop: ShopContext, order: OrderRow, kind: InvoiceKind): Pick<Email, 'also' | 'document'> {
  const { invoice, notes } = currentDocuments(shop.db, order.id)
  const newest = kind === 'invoice' ? invoice : notes.at(-1)
  if (newest === undefined) return {}
  const label = wordsOf(shop).t(kind === 'invoice' ? 'mail.viewInvoice' : 'mail.viewCreditNote')
  const url = documentUrl(shop, order, newest, { proof: invoiceProof(shop.keys, order) })
  return { also: { label, url }, ...(isForBusiness(newest) ? { document: { row: newest, url } } : {}) }
}

/** The link to pay an order after a failed payment: the page on which it is paid, or the site that takes the card. */
export function tryAgain(shop: ShopContext, order: OrderRow): EmailLink {
  const { strategy, returnUrl, publicToken } = order
  const isOnSite = takesToken(strategy) && returnUrl !== null
  const url = isOnSite ? siteUrl(shop.db, order, returnUrl, 'failed') : orderPageUrl(shop, 'emails.payUrl', publicToken)
  return { label: wordsOf(shop).t('mail.tryAgain'), url }
}

/** The number and the date of an order. */
export function orderFacts(shop: ShopContext, { id, createdAt }: OrderRow): EmailFact[] {
  const { t, day } = wordsOf(shop)
  return [
    { label: t('mail.orderNumber'), value: String(id) },
    { label: t('mail.orderDate'), value: day(createdAt) }
  ]
}

/** The lines of an order with their pictures, and its sums. */
export function orderTable(shop: ShopContext, order: OrderRow): EmailTable {
  const { db, publicUrl } = shop
  const words = wordsOf(shop)
  const lines = itemsOf(db, order.id).map((item) => ({
    label: `${item.quantity} × ${item.name}`,
    amount: words.money(lineAmountMinor(item), order.currency),
    picture: smallPicture(lineImage(db, item, publicUrl()))
  }))
  return { lines, sums: summaryRows(db, order, words) }
}

const pictureBox = 56

/** The smallest size of a picture, to fit a square of 56 pixels. Mail programs show pictures only over https. */
function smallPicture(image: Image | null): EmailPicture | null {
  const [smallest] = image?.sizes ?? []
  if (image === null || smallest === undefined || !smallest.url.startsWith('https://')) return null
  const { width, height } = image
  const shown = (pixels: number): number => Math.max(1, Math.round((pixels * pictureBox) / Math.max(width, height)))
  return { url: smallest.url, width: shown(width), height: shown(height) }
}

/**
 * The addresses of an order, as far as the buyer gave them.
 *
 * Only for an order that was paid with money: anyone can order with another person's email, and the shop would send that
 * person whatever advertisement is written in the address.
 */
export function addressBlocks(shop: ShopContext, order: OrderRow): EmailBlock[] {
  const { shippingAddress, billingAddress, shippingMethod, contact } = order
  const { t, textLanguage } = wordsOf(shop)
  const shipTo = shippingMethod?.pickup === true ? null : shippingAddress
  const blocks = [
    { title: t('mail.shippingAddress'), lines: addressLines(shipTo, contact, textLanguage) },
    { title: t('mail.billingAddress'), lines: addressLines(billingAddress, contact, textLanguage) }
  ]
  return blocks.filter(({ lines }) => lines.length > 0)
}

/** The lines of an envelope; none for an address without any part but a name. */
export function addressLines(address: Address | null, contact: OrderContact, language: Language): string[] {
  const { firstName: _first, lastName: _last, ...place } = address ?? {}
  if (postalLines(place).length === 0) return []
  const { phone: _phone, companyName: _company, ...name } = contact
  // A line break would let the buyer write lines of their own.
  return postalLines({ ...name, ...address }, language).map((line) => line.replaceAll(/\s+/g, ' '))
}
