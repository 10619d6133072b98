import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../../app.ts'
import { AppError } from '../../../errors.ts'
import type { MoveOptions, MoveReport } from '../move-in.ts'
import { openCsv } from './csv-file.ts'
import type { CsvFile } from './csv-file.ts'
import { importTables } from './import-tables.ts'
import type { TableFile, TableKind } from './import-tables.ts'

type Export = TableKind | 'gift cards' | 'products'

/** The columns by which each export of Shopify is recognised. */
const columns: readonly { is: Export; has: readonly string[] }[] = [
  { is: 'orders', has: ['financial status', 'lineitem name'] },
  { is: 'coupons', has: ['value type', 'times used in total'] },
  { is: 'gift cards', has: ['last characters'] },
  { is: 'redirects', has: ['redirect from', 'redirect to'] },
  { is: 'products', has: ['handle', 'title'] },
  { is: 'products', has: ['url handle', 'title'] },
  { is: 'customers', has: ['email', 'total spent'] },
  { is: 'customers', has: ['email', 'default address city'] }
]

/** What does not arrive from an export, and why. */
const reasons: Readonly<Record<Exclude<Export, TableKind>, string>> = {
  'gift cards': "Shopify exports only the last characters of a gift card's code, so customers could not pay with it",
  products: 'Products are imported first, with "shopstead offers import FILE"'
}

/**
 * Moves the CSV exports of a Shopify shop in: customers, discounts, orders and redirects, each recognised by its columns.
 *
 * @param paths files, or folders whose CSV files are taken
 * @throws AppError NOT_FOUND for what cannot be read; VALIDATION_FAILED for a file that is none of the exports; as
 *   importTables
 */
export async function importShopify(app: App, paths: readonly string[], options: MoveOptions): Promise<MoveReport> {
  const files: TableFile[] = []
  const leftBehind: { subject: string; rows: number; why: string }[] = []
  for (const path of paths.flatMap(filesOf)) {
    const file = await openCsv(path, {})
    const is = recognise(file)
    if (is === 'gift cards' || is === 'products')
      leftBehind.push({ subject: is, rows: await countRows(file), why: reasons[is] })
    else files.push({ kind: is, path })
  }
  return await importTables(app, 'shopify', files, { ...options, leftBehind })
}

function filesOf(path: string): string[] {
  const kind = statSync(path, { throwIfNoEntry: false })
  if (kind === undefined) throw new AppError('NOT_FOUND', `${path} does not exist.`)
  if (!kind.isDirectory()) return [path]
  const found = readdirSync(path)
    .filter((name) => /\.csv$/i.test(name))
    .toSorted()
    .map((name) => join(path, name))
  if (found.length > 0) return found
  throw new AppError('NOT_FOUND', `${path} contains no CSV files. Export them in Shopify and unpack ZIP archives.`)
}

function recognise({ name: fileName, columns: titles }: CsvFile): Export {
  const names = new Set(titles.map((name) => name.toLowerCase()))
  const found = columns.find(({ has }) => has.every((name) => names.has(name)))
  if (found !== undefined) return found.is
  const known = 'customers, orders, discounts, gift cards and URL redirects'
  const other =
    'For a table of another shop use "users import", "orders import", "coupons import" or "affiliates import".'
  throw new AppError('VALIDATION_FAILED', `${fileName} is not one of Shopify's exports of ${known}. ${other}`)
}

async function countRows(file: CsvFile): Promise<number> {
  let rows = 0
  for await (const _row of file.rows()) rows += 1
  return rows
}
