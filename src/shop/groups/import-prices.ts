import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { decimalText, readTable } from '../catalog/import/csv-table.ts'
import { formatFileError } from '../catalog/import/report.ts'
import { getGroup } from './groups.ts'
import type { GroupRow } from './groups.ts'
import { findListed, readPrice, storePrice } from './price-lists.ts'

/**
 * Reads a price list from a CSV file with the columns `slug`, `price` and optionally `sku` and `currency`. What it does not
 * name stays as it is; an empty price takes the product off the list.
 *
 * @returns how many prices it has
 * @throws AppError NOT_FOUND for an unknown group; VALIDATION_FAILED with each wrong line, and nothing is changed
 */
export function importPriceList(db: Db, slug: string, text: string): { group: GroupRow; prices: number } {
  const { rows, columns } = readTable(text)
  for (const column of ['slug', 'price'])
    if (!columns.includes(column))
      throw validationFailed({
        file: [`It needs the columns slug and price, and has ${columns.join(', ').slice(0, 500)}.`]
      })
  return write(db, (tx) => {
    const group = getGroup(tx, slug)
    const problems: string[] = []
    const seen = new Map<string, number>()
    for (const { line, cell } of rows) {
      const listed = { slug: cell('slug').trim(), sku: cell('sku').trim() || null, price: priceCell(cell) }
      const problem = attempt(() => {
        const { product, variation } = findListed(tx, listed)
        const key = `${product.id}/${variation?.id ?? ''}`
        const earlier = seen.get(key)
        if (earlier !== undefined) throw validationFailed({ slug: [`This is on line ${earlier}, too.`] })
        seen.set(key, line)
        storePrice(tx, group, { product, variation, minor: readPrice(tx, listed.price) })
      })
      if (problem !== undefined) problems.push(formatFileError({ line, ...problem }))
    }
    if (problems.length > 0) throw validationFailed({ file: problems.slice(0, 20) })
    return { group, prices: rows.length }
  })
}

/** A price of a spreadsheet with the currency of its row, as `setGroupPrice` takes it. */
function priceCell(cell: (column: string) => string): string | null {
  const price = decimalText(cell('price').trim())
  return price === '' ? null : `${price} ${cell('currency').trim().toUpperCase()}`.trim()
}

/** Why a line cannot be taken, with its column. */
function attempt(work: () => void): { column: string; cause: string } | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_FAILED') throw error
    const [[column, [cause = '']] = ['', []]] = Object.entries(error.details.fieldErrors ?? {})
    return { column: column === 'product' ? 'slug' : column, cause }
  }
}
