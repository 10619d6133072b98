import { AppError } from '../../../errors.ts'
import { renameColumns } from './csv-table.ts'
import type { Table } from './csv-table.ts'
import { isSpreadsheetColumn, spreadsheetFields } from './read-spreadsheet.ts'
import { isShopifyColumn } from './read-shopify.ts'
import { isWooCommerceColumn } from './woocommerce-ignored.ts'

/** The name or field that a column of the file gets, by the column's own name. */
export type ColumnMap = Readonly<Record<string, string>>

/**
 * Gives columns the names that the operator chose: a field of the import file, or a column of WooCommerce or Shopify.
 *
 * @throws AppError USAGE for a column that the file does not have, and for an unknown name
 */
export function mapColumns(table: Table, map: ColumnMap): Table {
  const wanted = new Map(Object.entries(map).map(([column, name]) => [column.trim().toLowerCase(), name.trim()]))
  for (const [column, name] of wanted) {
    if (!table.has(column)) {
      throw new AppError('USAGE', `The file has no column ${column}. Its columns are ${table.columns.join(', ')}.`)
    }
    if (isSpreadsheetColumn(name) || isWooCommerceColumn(name) || isShopifyColumn(name)) continue
    const fields = spreadsheetFields.join(', ')
    throw new AppError(
      'USAGE',
      `${name} is not a field. Fields are ${fields}, and the columns of WooCommerce and Shopify.`
    )
  }
  return wanted.size === 0 ? table : renameColumns(table, (column) => wanted.get(column.toLowerCase()) ?? column)
}
