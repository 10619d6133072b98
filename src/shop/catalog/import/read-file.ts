import { isBelowMinimum, minimumChargeMinor, formatMoney, isCurrency } from '../../../platform/money.ts'
import { AppError } from '../../../errors.ts'
import type { Table, Encoding } from './csv-table.ts'
import type { ShopPlace } from '../../settings/shop-days.ts'
import { readTable, decodeText, renameColumns } from './csv-table.ts'
import { readDrafts, FileErrors, refuseFile, ReportBuilder } from './report.ts'
import { emptyLists, formatSchemas } from './format.ts'
import type { CatalogFile, ProductInput } from './format.ts'
import { readJson } from './read-json.ts'
import { isShopify, readShopify, isShopifyColumn } from './read-shopify.ts'
import { isSpreadsheet, readSpreadsheet, spreadsheetFields, isSpreadsheetColumn } from './read-spreadsheet.ts'
import { isWooCommerce, readWooCommerce, isWooCommerceColumn } from './read-woocommerce.ts'
import type { ImportReport } from './report.ts'
import { toEnglishColumns } from './woocommerce-languages.ts'

export const maxFileBytes = 50 * 1024 * 1024

/** Amounts are in the shop's currency, and days are of its time zone. */
export type ReadOptions = ShopPlace & {
  /** Names for columns of a CSV file. */
  map?: ColumnMap | undefined
  /** What the slugs of products are made from if the file has none. */
  slugsFrom?: 'name' | 'sku' | undefined
}

/**
 * Reads a catalog file and detects its format from the content: JSON (docs/contract.md A7, or a response of
 * GET /store/offers), the product CSV export of WooCommerce or Shopify, or a table of products.
 *
 * @throws AppError VALIDATION_FAILED with `details.errors`, each a line, a column or path, and a cause; a file with an
 *   error is refused as a whole. USAGE for a map that does not fit the file
 */
export function readCatalogFile(
  content: string | Uint8Array,
  options: ReadOptions
): { file: CatalogFile; report: ImportReport } {
  const { currency } = options
  if (!isCurrency(currency)) throw new AppError('VALIDATION_FAILED', "The shop's currency is unknown.")
  const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength
  if (bytes > maxFileBytes) refuseFile(null, null, 'The file is larger than 50 MB.')
  const { text, encoding } = decodeText(content)
  if (text.trim() === '') refuseFile(null, null, 'The file is empty.')
  const report = new ReportBuilder()
  if (!/^\s*[[{]/.test(text)) return readCsv(text, encoding, options)
  const { file, entries } = readJson(text, options)
  warnOfSmallPrices(file.products, currency, report)
  for (const { name } of file.products.filter(({ published }) => published === false)) {
    report.unpublish('Not published in the file', name)
  }
  return { file, report: report.build('json', entries) }
}

function readCsv(text: string, encoding: Encoding, options: ReadOptions) {
  const { currency, timeZone, map = {}, slugsFrom = 'sku' } = options
  const { table, format } = recognise(mapColumns(readTable(text), map))
  const context = {
    currency,
    timeZone,
    slugsFrom,
    errors: new FileErrors(table.titleOf),
    report: new ReportBuilder(table.titleOf)
  }
  if (encoding === 'Windows-1252') {
    context.report.warn('The file is not UTF-8. It is read as Windows-1252 (Latin-1): check names with accents.')
  }
  const products = readDrafts(readers[format](table, context), formatSchemas(options), context.errors)
  context.errors.throwIfAny()
  warnOfSmallPrices(products, currency, context.report)
  return { file: { ...emptyLists, products }, report: context.report.build(format, table.rows.length) }
}

const readers = { woocommerce: readWooCommerce, shopify: readShopify, spreadsheet: readSpreadsheet }

function recognise(table: Table): { table: Table; format: keyof typeof readers } {
  if (isShopify(table)) return { table, format: 'shopify' }
  const english = toEnglishColumns(table)
  if (isWooCommerce(table)) return { table: english, format: 'woocommerce' }
  if (isSpreadsheet(table)) return { table, format: 'spreadsheet' }
  if (isWooCommerce(english)) return { table: english, format: 'woocommerce' }
  const cause =
    'The file is not JSON, and its header does not match a product export of WooCommerce or Shopify. ' +
    `For another table, name the columns: --map "COLUMN=name" --map "COLUMN=price". Fields are ${spreadsheetFields.join(', ')}. ` +
    `The columns of the file are ${table.columns.join(', ').slice(0, 1000)}.`
  return refuseFile(1, null, cause)
}

/** Warns of prices below Stripe's minimum charge: such a product can be bought by card only together with others. */
function warnOfSmallPrices(products: readonly ProductInput[], currency: string, report: ReportBuilder): void {
  const minimum = formatMoney(minimumChargeMinor(currency), currency)
  for (const { slug, priceMinor, salePriceMinor } of products) {
    const lowest = salePriceMinor ?? priceMinor
    if (!isBelowMinimum(lowest, currency)) continue
    report.warnOf(`Products that cost less than the minimum of ${minimum} that Stripe charges by card`, slug)
  }
}

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
