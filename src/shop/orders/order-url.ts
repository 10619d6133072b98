import type { ShopContext } from '../context.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { findInvoice } from '../invoices/find.ts'
import type { InvoiceRow } from '../invoices/rows.ts'
import type { OrderRow } from './rows.ts'

/**
 * The address of an order's own page, for the buyer. The token in it is all that is needed to read and cancel the order.
 * It is stored and not derived, because links in emails must outlive a change of the shop's secret, and because a backup
 * contains the secret anyway.
 */
export function statusUrl(
  shop: Pick<ShopContext, 'publicUrl'>,
  { publicToken }: Pick<OrderRow, 'publicToken'>
): string {
  return `${shop.publicUrl()}/checkout/done/${publicToken}`
}

/** The address of the page on which an order is paid, by the same token. */
export function payUrl(shop: Pick<ShopContext, 'publicUrl'>, { publicToken }: Pick<OrderRow, 'publicToken'>): string {
  return `${shop.publicUrl()}/checkout/${publicToken}`
}

/** The address of an order's invoice for the buyer, by the same token; null for an order without an invoice. */
export function invoiceUrl(
  shop: Pick<ShopContext, 'publicUrl' | 'db'>,
  order: Pick<OrderRow, 'id' | 'publicToken'>
): string | null {
  const invoice = findInvoice(shop.db, order.id)
  return invoice === undefined ? null : documentUrl(shop, order, invoice)
}

const withInvoice = rawStatement<
  [ids: string],
  Pick<OrderRow, 'id' | 'publicToken'> & Pick<InvoiceRow, 'kind' | 'number'>
>(
  `SELECT o.id, o.public_token AS publicToken, i.kind, i.number FROM invoices i JOIN orders o ON o.id = i.order_id
   WHERE i.kind = 'invoice' AND i.order_id IN (SELECT value FROM json_each(?))`
)

/** The addresses of the invoices of some orders, by the id of the order. */
export function invoiceUrls(
  shop: Pick<ShopContext, 'publicUrl' | 'db'>,
  orderIds: readonly number[]
): ReadonlyMap<number, string> {
  const rows = withInvoice(shop.db).all(JSON.stringify(orderIds))
  return new Map(rows.map((row) => [row.id, documentUrl(shop, row, row)]))
}

/** The address of an invoice or a credit note, as a page or as a PDF. */
export function documentUrl(
  shop: Pick<ShopContext, 'publicUrl'>,
  { publicToken }: Pick<OrderRow, 'publicToken'>,
  { kind, number }: Pick<InvoiceRow, 'kind' | 'number'>,
  format: 'page' | 'pdf' = 'page'
): string {
  const query = new URLSearchParams({
    ...(kind === 'invoice' ? {} : { number }),
    ...(format === 'pdf' ? { format } : {})
  }).toString()
  return `${shop.publicUrl()}/checkout/invoice/${publicToken}${query === '' ? '' : `?${query}`}`
}
