import { isBelowMinimum, minimumChargeMinor } from '../../../platform/minimum-charge.ts'
import { isUtf8 } from 'node:buffer'
import { formatMoney, isCurrency } from '../../../platform/money.ts'
import { AppError } from '../../../errors.ts'
import type { Table } from './csv-table.ts'
import { readTable } from './csv-table.ts'
import type { Draft } from './drafts.ts'
import { readDrafts } from './drafts.ts'
import type { CatalogFile, ProductInput } from './format.ts'
import { formatSchemas } from './format-schemas.ts'
import { FileErrors, refuseFile } from './file-errors.ts'
import { readJson } from './read-json.ts'
import { isShopify, readShopify } from './read-shopify.ts'
import { isWooCommerce, readWooCommerce } from './read-woocommerce.ts'
import type { ImportReport } from './report.ts'
import { ReportBuilder } from './report.ts'

export const maxFileBytes = 50 * 1024 * 1024

/**
 * Reads a catalogue file and detects its format from the content: JSON (docs/contract.md A7, or a response of
 * GET /store/offers), or the product CSV export of WooCommerce or Shopify.
 *
 * @param options.currency the shop's; amounts are in it
 * @throws AppError VALIDATION_FAILED with `details.errors`, each a line, a column or path, and a cause; a file with an
 *   error is refused as a whole
 */
export function readCatalogFile(
  content: string | Uint8Array,
  { currency }: { currency: string }
): { file: CatalogFile; report: ImportReport } {
  if (!isCurrency(currency)) throw new AppError('VALIDATION_FAILED', "The shop's currency is unknown.")
  const text = decode(content)
  if (text.trim() === '') refuseFile(null, null, 'The file is empty.')
  if (/^\s*[[{]/.test(text)) {
    const { file, entries } = readJson(text, currency)
    const report = new ReportBuilder()
    warnOfSmallPrices(file.products, currency, report)
    return { file, report: report.build('json', entries) }
  }
  return readCsv(text, currency)
}

function readCsv(text: string, currency: string): { file: CatalogFile; report: ImportReport } {
  const table = readTable(text)
  const context = { currency, errors: new FileErrors(), report: new ReportBuilder() }
  const { format, drafts } = readProducts(table, context)
  const products = readDrafts(drafts, formatSchemas(currency), context.errors)
  context.errors.throwIfAny()
  warnOfSmallPrices(products, currency, context.report)
  const file = {
    categories: [],
    products,
    coupons: [],
    plans: [],
    campaigns: [],
    affiliates: [],
    shipping: [],
    tax: []
  }
  return { file, report: context.report.build(format, table.rows.length) }
}

/** Warns of prices below Stripe's minimum charge: such a product can be bought by card only together with others. */
function warnOfSmallPrices(products: readonly ProductInput[], currency: string, report: ReportBuilder): void {
  const minimum = formatMoney(minimumChargeMinor(currency), currency)
  for (const { slug, priceMinor, salePriceMinor } of products) {
    const lowest = salePriceMinor ?? priceMinor
    if (!isBelowMinimum(lowest, currency)) continue
    const price = formatMoney(lowest, currency)
    report.warn(`${slug} costs ${price}, less than the minimum of ${minimum} that Stripe charges by card.`)
  }
}

function readProducts(
  table: Table,
  context: { currency: string; errors: FileErrors; report: ReportBuilder }
): { format: 'woocommerce' | 'shopify'; drafts: Draft[] } {
  if (isShopify(table)) return { format: 'shopify', drafts: readShopify(table, context) }
  if (isWooCommerce(table)) return { format: 'woocommerce', drafts: readWooCommerce(table, context) }
  const cause =
    'The file is not JSON, and its header does not match a product export of WooCommerce or Shopify. ' +
    'Only English column names are supported: set the shop to English before you export.'
  return refuseFile(1, null, cause)
}

function decode(content: string | Uint8Array): string {
  const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength
  if (bytes > maxFileBytes) refuseFile(null, null, 'The file is larger than 50 MB.')
  if (typeof content === 'string') return content.replace(/^\ufeff/, '')
  if (!isUtf8(content)) {
    refuseFile(lineOfBadByte(content), null, 'The file is not UTF-8 text. Save it with the encoding UTF-8.')
  }
  return new TextDecoder().decode(content)
}

function lineOfBadByte(bytes: Uint8Array): number {
  let line = 1
  for (let from = 0; from < bytes.length; line += 1) {
    const end = bytes.indexOf(10, from)
    const next = end === -1 ? bytes.length : end + 1
    if (!isUtf8(bytes.subarray(from, next))) return line
    from = next
  }
  return line
}
