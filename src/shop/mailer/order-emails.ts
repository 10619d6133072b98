import type { MailData } from '../mail/queue.ts'
import { formatMoney } from '../../platform/money.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { ShopContext } from '../context.ts'
import { listGuestDownloads } from '../benefits/download-links.ts'
import { needsAccount } from '../benefits/give.ts'
import { claimToken } from '../orders/claim-link.ts'
import { waitsForAccount } from '../orders/order-mails.ts'
import { findRenewed } from '../benefits/records.ts'
import { findInvoiceOfOrder } from '../benefits/subscriptions.ts'
import { itemsOf, findOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { setting } from '../settings/settings.ts'
import type { Email, EmailBlock, EmailFact, EmailLink, EmailPicture, EmailTable } from './email.ts'
import { formatDay } from './email-times.ts'
import { postalLines } from '../../platform/postal/address.ts'
import { lineImage } from '../catalog/public/image.ts'
import type { Image } from '../catalog/public/shapes.ts'
import { documentsOf } from '../invoices/find.ts'
import type { InvoiceKind } from '../invoices/find.ts'
import { toText } from '../invoices/text.ts'
import { addressPath, waitsForAddress } from '../orders/address.ts'
import type { Address, OrderContact } from '../orders/address.ts'
import { documentUrl } from '../orders/view.ts'
import { takesToken } from '../orders/strategies.ts'
import { summaryRows } from '../orders/totals.ts'
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
  const name = setting(shop.db, 'shop.name')
  const items = itemsOf(shop.db, order.id)
  const renews = findRenewed(shop.db, order.renewalOf ?? order.id) !== undefined
  const period = renewedPeriod(shop, order)
  const files = listGuestDownloads(shop.db, shop.keys, order.id, now).map((file) => file.name)
  const renewed = `Your subscription at ${name} is renewed`
  return {
    subject: period === null ? `Your order ${order.id} at ${name}` : `${renewed}: order ${order.id}`,
    opening: [
      `${period === null ? `Thank you for your order at ${name}.` : `${renewed} ${period}.`} ${paymentText(order)}`
    ],
    facts: orderFacts(order),
    table: orderTable(shop, order),
    action: waitsForAddress(order)
      ? { label: 'Enter the address to ship to', url: `${shop.publicUrl()}${addressPath(order)}` }
      : viewOrder(shop, order),
    ...viewDocument(shop, order, 'invoice'),
    blocks: order.totalMinor > 0 ? addressBlocks(order) : [],
    closing: [
      ...(waitsForAddress(order) ? [whereTo] : preparing(order, needsShipping(items))),
      ...(files.length > 0 ? [`Your files are on the page of your order: ${files.join(', ')}.`] : []),
      ...(renews ? ['You can end your subscription at any time. Use the link on the page of your order.'] : [])
    ],
    links: {}
  }
}

/**
 * The link to open an account, for what a guest bought and can only use with one.
 *
 * @throws ObsoleteEmailError when the order does not exist, its buyer is erased, or it does not wait for an account any more
 */
export function claimOrderEmail(shop: ShopContext, data: MailData['claim_order'], now: number): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  if (!waitsForAccount(shop.db, order)) throw new ObsoleteEmailError('the order does not wait for an account')
  const name = setting(shop.db, 'shop.name')
  const needing = itemsOf(shop.db, order.id).filter((item) => needsAccount([item]))
  return {
    subject: `Open your account for your order ${order.id} at ${name}`,
    opening: [`You need an account at ${name} to use what you bought: ${needing.map((item) => item.name).join(', ')}.`],
    action: { label: 'Open my account', url: claimUrl(shop, claimToken(shop.keys, order, now)) },
    closing: ['The link works for 30 days. The page of your order sends you a new one.'],
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
    ...creditTable(shop, order, data.amountMinor),
    action: viewOrder(shop, order),
    ...viewDocument(shop, order, 'credit_note'),
    closing: [],
    links: {}
  }
}

/** What a refund gave back, by its credit note; nothing for a refund of an amount. */
function creditTable({ db }: ShopContext, { id }: OrderRow, amountMinor: number): Pick<Email, 'table'> {
  const note = documentsOf(db, id).findLast(
    ({ kind, totalMinor }) => kind === 'credit_note' && totalMinor === amountMinor
  )
  if (note === undefined || note.document.lines.length === 0) return {}
  const { lines, sums } = toText(note)
  return {
    table: {
      lines: lines.map(({ quantity, name, amount }) => ({ label: `${quantity} × ${name}`, amount, picture: null })),
      sums: sums.map(({ label, amount }) => ({ label, amount }))
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

const whereTo = 'Please tell us where to ship your order. We send it as soon as we have the address.'

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
  return { label: 'View your order', url: orderPageUrl(shop, 'emails.orderUrl', order.publicToken) }
}

/** The link to the invoice of an order, or to its newest credit note; no link without one. */
export function viewDocument(shop: ShopContext, order: OrderRow, kind: InvoiceKind): { also?: EmailLink } {
  const newest = documentsOf(shop.db, order.id).findLast((row) => row.kind === kind)
  if (newest === undefined) return {}
  const label = kind === 'invoice' ? 'View your invoice' : 'View your credit note'
  return { also: { label, url: documentUrl(shop, order, newest) } }
}

/** The link to pay an order after a failed payment: the page on which it is paid, or the site that takes the card. */
export function tryAgain(shop: ShopContext, order: OrderRow): EmailLink {
  const { strategy, returnUrl, publicToken } = order
  const isOnSite = takesToken(strategy) && returnUrl !== null
  const url = isOnSite ? siteUrl(shop.db, order, returnUrl, 'failed') : orderPageUrl(shop, 'emails.payUrl', publicToken)
  return { label: 'Try again', url }
}

/** The number and the date of an order. */
export function orderFacts({ id, createdAt }: OrderRow): EmailFact[] {
  return [
    { label: 'Order number', value: String(id) },
    { label: 'Order date', value: formatDay(createdAt) }
  ]
}

/** The lines of an order with their pictures, and its sums. */
export function orderTable({ db, publicUrl }: Pick<ShopContext, 'db' | 'publicUrl'>, order: OrderRow): EmailTable {
  const money = (minor: number): string => formatMoney(minor, order.currency)
  const lines = itemsOf(db, order.id).map((item) => ({
    label: `${item.quantity} × ${item.name}`,
    amount: money(item.unitPriceMinor * item.quantity),
    picture: smallPicture(lineImage(db, item, publicUrl()))
  }))
  return { lines, sums: summaryRows(db, order) }
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
export function addressBlocks({ shippingAddress, billingAddress, shippingMethod, contact }: OrderRow): EmailBlock[] {
  const shipTo = shippingMethod?.pickup === true ? null : shippingAddress
  const blocks = [
    { title: 'Shipping address', lines: addressLines(shipTo, contact) },
    { title: 'Billing address', lines: addressLines(billingAddress, contact) }
  ]
  return blocks.filter(({ lines }) => lines.length > 0)
}

/** The lines of an envelope; none for an address without any part but a name. */
function addressLines(address: Address | null, contact: OrderContact): string[] {
  const { firstName: _first, lastName: _last, ...place } = address ?? {}
  if (postalLines(place).length === 0) return []
  const { phone: _phone, companyName: _company, ...name } = contact
  // A line break would let the buyer write lines of their own.
  return postalLines({ ...name, ...address }).map((line) => line.replaceAll(/\s+/g, ' '))
}
