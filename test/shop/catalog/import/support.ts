import { AppError } from '../../../../src/errors.ts'
import type { FileError } from '../../../../src/shop/catalog/import/report.ts'
import { readCatalogFile } from '../../../../src/shop/catalog/import/read-file.ts'

/** The fields with the same form in a file and in the shop of a product that has only a slug, a name and a price. */
export const plainProduct = {
  slug: 'lamp',
  name: 'Lamp',
  sku: null,
  description: '',
  descriptionHtml: null,
  lengthMm: null,
  widthMm: null,
  heightMm: null,
  brand: null,
  gtin: null,
  mpn: null,
  manufacturer: null,
  responsiblePerson: null,
  safetyInfo: null,
  unitMeasure: null,
  seoTitle: null,
  seoDescription: null,
  type: 'physical',
  published: true,
  weightGrams: null,
  taxClass: 'standard',
  url: null,
  categories: [],
  tags: [],
  variations: [],
  grants: []
}

export function read(content: string | Uint8Array, currency = 'EUR', timeZone = 'UTC') {
  return readCatalogFile(content, { currency, timeZone })
}

export function readProducts(content: string | object) {
  return read(typeof content === 'string' ? content : JSON.stringify(content)).file.products
}

/** The errors of a refused file. Fails when the file is accepted, or refused with another code than VALIDATION_FAILED. */
export function errorsOf(content: string | Uint8Array, currency = 'EUR'): FileError[] {
  const outcome = outcomeOf(() => read(content, currency))
  if (!(outcome instanceof AppError)) throw new Error('The file was accepted.', { cause: outcome })
  if (outcome.code !== 'VALIDATION_FAILED')
    throw new Error('The file was refused with another code.', { cause: outcome })
  return Array.isArray(outcome.details.errors) ? outcome.details.errors : []
}

export function outcomeOf(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}

/** Writes CSV text from rows of cells by column; quotes cells where necessary. */
export function csv(columns: readonly string[], rows: readonly Readonly<Record<string, string>>[]): string {
  const lines = rows.map((row) => columns.map((column) => row[column] ?? ''))
  const quote = (cell: string) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  return [columns, ...lines].map((cells) => `${cells.map(quote).join(',')}\n`).join('')
}
