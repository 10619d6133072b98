import { formatMoney } from '../../platform/money.ts'
import { postalLines } from '../../platform/postal/lines.ts'
import { lineImage } from '../catalog/public/image.ts'
import type { Image } from '../catalog/public/image.ts'
import type { ShopContext } from '../context.ts'
import { documentsOf } from '../invoices/find.ts'
import type { InvoiceKind } from '../invoices/find.ts'
import { findOrder, itemsOf } from '../orders/find.ts'
import type { Address, OrderContact } from '../orders/address.ts'
import { documentUrl } from '../orders/view.ts'
import type { OrderRow } from '../orders/find.ts'
import { takesToken } from '../orders/strategies.ts'
import { summaryRows } from '../orders/totals.ts'
import { siteUrl } from '../payments/gateway-page.ts'
import { orderPageUrl } from '../settings/page-url.ts'
import { ObsoleteEmailError } from './email.ts'
import type { EmailBlock, EmailFact, EmailLink, EmailPicture, EmailTable } from './email.ts'
import { formatDay } from './email-times.ts'

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
  return { lines, sums: summaryRows(db, order).map(({ label, amount }) => ({ label, amount })) }
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
