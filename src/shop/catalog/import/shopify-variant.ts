import { decimalText, isCheaper, stockCount } from './csv-table.ts'
import type { Row } from './csv-table.ts'
import type { ReportBuilder } from './report.ts'

type Field = 'price' | 'compareAt' | 'quantity' | 'policy' | 'tracker'
/** How a reader finds a cell: by the field, whose column has several names. */
type Cells = {
  cell: (row: Row, field: Field) => string
  column: (field: Field) => string
  table: { has: (column: string) => boolean }
  currency: string
  report: ReportBuilder
}

/** If the compare-at price is higher, it is the regular price and the price is a sale price. */
export function prices(
  row: Row,
  { cell, column, currency, report }: Cells
): { price: string | undefined; salePrice: string | null } {
  const price = decimalText(cell(row, 'price'))
  const compareAt = decimalText(cell(row, 'compareAt'))
  const isZero = /^0*(?:\.0*)?$/.test(compareAt)
  if (isZero || price === '') return { price: price || undefined, salePrice: null }
  if (isCheaper(price, compareAt, currency)) return { price: compareAt, salePrice: price }
  report.ignore(column('compareAt'), 'The compare-at price is not above the price')
  return { price, salePrice: null }
}

/** Shopify leaves quantities out of the product export of a shop with several locations. */
const noQuantity = 'Shopify tracks this stock, but the file has no quantity, so the stock is not counted'

/** Stock is counted only when Shopify tracks it and stops selling at zero. */
export function stock(row: Row, { cell, column, table, report }: Cells): number | string | null {
  const quantity = cell(row, 'quantity')
  const isOversold = /^(?:continue|true|yes)$/i.test(cell(row, 'policy'))
  const isTracked = table.has(column('tracker')) ? cell(row, 'tracker') !== '' : quantity !== ''
  if (isTracked && !isOversold) {
    if (quantity !== '') return stockCount(quantity)
    report.ignore(column('quantity'), noQuantity)
    return null
  }
  if (quantity !== '') report.ignore(column('quantity'), 'Shopify does not track this stock, or sells below zero')
  return null
}
