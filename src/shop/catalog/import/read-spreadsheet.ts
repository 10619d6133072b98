import { categoryPaths, decimalText, isFalsy, isTruthy, splitList, stockCount, toTaxClass } from './csv-table.ts'
import type { Row, Table } from './csv-table.ts'
import type { Draft, FileErrors, ReportBuilder } from './report.ts'
import { htmlToLine, htmlToText } from './html-text.ts'
import { toGrams, toMillimetres, unitOf } from './csv-table.ts'
import { unpricedIsUnpublished } from './report.ts'
import { slugFor, UniqueNames } from './slug.ts'

type Context = { slugsFrom: 'name' | 'sku'; errors: FileErrors; report: ReportBuilder }
type Read = (cell: string, column: string) => unknown

const text: Read = (cell) => cell || null
const price: Read = (cell) => decimalText(cell) || null
const size: Read = (cell, column) => toMillimetres(cell, unitOf(column)) ?? (cell || null)

/** The columns of a spreadsheet, named as the fields of the import file. `undefined` leaves a field out. */
const readers = {
  name: (cell) => htmlToLine(cell),
  slug: (cell) => cell || undefined,
  sku: text,
  price,
  salePrice: price,
  saleStart: text,
  saleEnd: text,
  stock: (cell) => (cell === '' ? null : stockCount(cell)),
  type: (cell) => cell.toLowerCase() || undefined,
  published: (cell) => (isTruthy(cell) ? true : isFalsy(cell) ? false : cell || undefined),
  position: (cell) => (/^\d{1,9}$/.test(cell) ? Number(cell) : cell || undefined),
  description: (cell) => htmlToText(cell),
  weightGrams: (cell) => toGrams(cell, 'g') ?? (cell || null),
  taxClass: (cell) => toTaxClass(cell) ?? cell,
  brand: text,
  gtin: text,
  mpn: text,
  manufacturer: text,
  responsiblePerson: text,
  safetyInfo: text,
  unitMeasure: text,
  seoTitle: text,
  seoDescription: text,
  url: text,
  categories: (cell) => categoryPaths(splitList(cell)),
  tags: splitList,
  images: (cell) => splitList(cell).map((src) => ({ src }))
} satisfies Readonly<Record<string, Read>>

/** Columns with a unit, such as `weight (kg)`, and the field that each gives. */
const measures: Readonly<Record<string, { field: string; read: Read }>> = {
  weight: { field: 'weightGrams', read: (cell, column) => toGrams(cell, unitOf(column)) ?? (cell || null) },
  length: { field: 'lengthMm', read: size },
  width: { field: 'widthMm', read: size },
  height: { field: 'heightMm', read: size }
}

/** What `--map` accepts as a field of a spreadsheet. */
export const spreadsheetFields = [
  ...Object.keys(readers),
  ...Object.keys(measures).map((name) => `${name} (${name === 'weight' ? 'kg' : 'cm'})`)
]

/** Whether `readSpreadsheet` reads a column. */
export function isSpreadsheetColumn(column: string): boolean {
  return readerOf(column) !== undefined
}

/** Recognises a table of products by its columns, which have the names of the fields or were given them. */
export function isSpreadsheet(table: Table): boolean {
  return table.has('name') && table.has('price')
}

/** Reads one simple product from each row. Errors and ignored cells go to `context`. */
export function readSpreadsheet(table: Table, context: Context): Draft[] {
  const slugs = new UniqueNames()
  const skus = new Map<string, number>()
  for (const row of table.rows) skus.set(row.cell('sku'), (skus.get(row.cell('sku')) ?? 0) + 1)
  for (const column of table.columns.filter((name) => readerOf(name) === undefined)) {
    for (const row of table.rows)
      if (row.cell(column) !== '') context.report.ignore(column, 'This column is not supported')
  }
  const columns = Object.fromEntries(table.columns.map((column) => [readerOf(column)?.field ?? column, column]))
  return table.rows.map((row) => {
    const value = valuesOf(table, row)
    const [name, sku] = [row.cell('name'), row.cell('sku')]
    const base = context.slugsFrom === 'name' ? name || sku : sku || name
    const slug = row.cell('slug') || slugs.take(slugFor(base), `${sku} ${name}`)
    const unpriced = row.cell('price') === ''
    if (unpriced) context.report.unpublish(unpricedIsUnpublished, name)
    const marks = { unpriced, foundBySku: row.cell('slug') === '' && skus.get(sku) === 1 }
    const priced = unpriced ? { price: 0, salePrice: null } : {}
    return { value: { ...value, ...priced, slug }, source: { line: row.line, columns }, variations: [], marks }
  })
}

function valuesOf(table: Table, row: Row): Record<string, unknown> {
  const values = table.columns.flatMap((column): [string, unknown][] => {
    const reader = readerOf(column)
    const cell = row.cell(column)
    if (reader === undefined) return []
    const html: [string, unknown][] = reader.field === 'description' ? [['descriptionHtml', cell]] : []
    return [[reader.field, reader.read(cell, column)], ...html]
  })
  return Object.fromEntries(values)
}

function readerOf(column: string): { field: string; read: Read } | undefined {
  const key = column.toLowerCase()
  const name = Object.keys(readers).find((field) => field.toLowerCase() === key)
  const known: Readonly<Record<string, Read>> = readers
  const read = name === undefined ? undefined : known[name]
  if (name !== undefined && read !== undefined) return { field: name, read }
  return measures[/^[^()]*/.exec(key)?.[0].trim() ?? '']
}
