import { and, between, gt, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { isElsewhereInEu } from '../../platform/vat.ts'
import { isOwedByBuyer } from '../tax/categories.ts'
import type { InvoiceDocument, InvoiceTax } from './document.ts'
import { invoices } from './schema.ts'

/** The sales in euros a year, from which consumers pay the rates of their own country (Directive 2006/112/EC, article 59c). */
export const crossBorderThresholdMinor = 1_000_000

/**
 * Whether a tax of a document is on a sale to a consumer in another member state of the EU than the seller's. A gift card is
 * not such a sale; what it pays for is (Directive 2006/112/EC, article 30b).
 */
function isCrossBorder({ category, destination }: InvoiceTax, seller: string): boolean {
  if (isOwedByBuyer({ category }) || category === 'small_business' || category === 'voucher') return false
  return isElsewhereInEu(destination, seller)
}

/** What a document sells to consumers in other member states of the EU, in minor units without tax. */
export function crossBorderOf({ taxes, seller }: Pick<InvoiceDocument, 'taxes' | 'seller'>): number {
  return taxes.reduce((sum, tax) => sum + (isCrossBorder(tax, seller.country) ? tax.baseMinor : 0), 0)
}

/** What the invoices minus the credit notes of a year sell in euros to consumers in other member states of the EU. */
export function crossBorderSales(db: Db, year: number): number {
  const sum = sql<number>`coalesce(sum(iif(${invoices.kind} = 'invoice', 1, -1) * ${invoices.crossBorderMinor}), 0)`
  const row = db.orm
    .select({ sum })
    .from(invoices)
    .where(
      and(
        between(invoices.date, `${year}-01-01`, `${year}-12-31`),
        gt(invoices.crossBorderMinor, 0),
        sql`${invoices.currency} = 'EUR'`
      )
    )
    .get()
  return row?.sum ?? 0
}
