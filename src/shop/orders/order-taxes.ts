import { eq } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { insertStatement, rowsStatement } from '../../platform/db/statements.ts'
import { toMajor } from '../../platform/money.ts'
import { rateLabel } from '../tax/arithmetic.ts'
import type { TaxLine } from '../tax/arithmetic.ts'
import { saleTerms } from '../tax/terms.ts'
import type { SaleTerms } from '../tax/terms.ts'
import type { OrderItemRow, OrderRow } from './rows.ts'
import { orderTaxes } from './schema.ts'

/** How an order is taxed, by its addresses and the rates of the moment. Whether its prices include the tax stays. */
export function termsOfOrder(db: Db, order: OrderRow, items: readonly OrderItemRow[]): SaleTerms {
  const included = order.reverseCharge
    ? items.some(({ listPriceMinor }) => listPriceMinor !== null)
    : order.taxMinor === 0
      ? undefined
      : order.taxIncluded
  return saleTerms(db, order, items, included)
}

/** The taxes of an order, a row for each rate. */
export const taxesOfOrder = rowsStatement(orderTaxes, 'order_id = ? ORDER BY id')
const insertTax = insertStatement(orderTaxes)

/** Stores the taxes of an order, in place of those that it has. */
export function storeTaxes(tx: Tx, orderId: number, lines: readonly TaxLine[]): void {
  tx.orm.delete(orderTaxes).where(eq(orderTaxes.orderId, orderId)).run()
  for (const line of lines) insertTax(tx, { ...line, orderId })
}

/** A tax of an order, or of a quote, in major units. */
export type TaxView = { name: string; ratePercent: number; amount: number }

/** The taxes of an order or a quote as their public form. */
export function toTaxes(lines: readonly TaxLine[], currency: string): TaxView[] {
  return lines.map(({ name, rateMillionths, amountMinor }) => ({
    name,
    ratePercent: rateMillionths / 10_000,
    amount: toMajor(amountMinor, currency)
  }))
}

/** The label of a tax in a list of sums: `19 % VAT`, with `incl.` if the prices include it. */
export function taxLabel(tax: TaxLine, included: boolean): string {
  return included ? `incl. ${rateLabel(tax)}` : rateLabel(tax)
}
