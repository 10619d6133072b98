import { decimalText, isCheaper, isFalsy, isTruthy, splitList, stockCount } from './cells.ts'
import type { Row, Table } from './csv-table.ts'
import { htmlToLine, htmlToText } from './html-text.ts'
import type { FileErrors } from './file-errors.ts'
import type { ReportBuilder } from './report.ts'

export type WooContext = { table: Table; currency: string; errors: FileErrors; report: ReportBuilder }

/** A row with its `Type` cell taken apart: `simple, downloadable, virtual`. */
export type WooRow = { row: Row; kind: string; isVirtual: boolean; id: string; sku: string; name: string }

export function toWooRow(row: Row): WooRow {
  const types = splitList(row.cell('Type').toLowerCase())
  return {
    row,
    kind: types.find((type) => type !== 'virtual' && type !== 'downloadable') ?? 'simple',
    isVirtual: types.includes('virtual'),
    id: row.cell('ID'),
    sku: row.cell('SKU'),
    name: htmlToLine(row.cell('Name'))
  }
}

/** 1 is published; 0 (private), -1 (draft) and 2 (pending) are not; what says nothing is. */
export function publishedState(row: Row, { errors }: WooContext): 'published' | 'private' | 'draft' {
  const cell = row.cell('Published')
  if (cell === '' || isTruthy(cell)) return 'published'
  if (cell === '0') return 'private'
  if (!/^(?:-1|2|false|no)$/i.test(cell)) errors.add(row.line, 'Published', 'Must be 1, 0, -1 or 2.')
  return 'draft'
}

/**
 * Null = not counted: no stock is kept, or it may be sold past none left (backorders). What is marked as out of stock
 * has none, whether or not it is counted. `parent` = the variations share the product's stock.
 */
export function stockOf(row: Row): number | string | null {
  const inStock = row.cell('In stock?').toLowerCase()
  const stock = row.cell('Stock').toLowerCase()
  const backorders = row.cell('Backorders allowed?').toLowerCase()
  if (isFalsy(inStock)) return 0
  if (inStock === 'backorder' || isTruthy(backorders) || backorders === 'notify') return null
  if (stock === '' || stock === 'parent') return stock || null
  return stockCount(stock)
}

export type WooPrices = {
  price: string | undefined
  salePrice: string | null
  saleStart: string | null
  saleEnd: string | null
}

export function pricesOf(row: Row, { currency, report }: WooContext): WooPrices {
  const price = decimalText(row.cell('Regular price')) || undefined
  const sale = decimalText(row.cell('Sale price'))
  const none = { price, salePrice: null, saleStart: null, saleEnd: null }
  if (sale === '' || price === undefined) return none
  if (!isCheaper(sale, price, currency)) {
    report.ignore('Sale price', 'The sale price is not below the regular price')
    return none
  }
  const saleStart = dateOf(row, 'Date sale price starts', false)
  const isDated = saleStart !== null || row.cell('Date sale price ends') !== ''
  if (isDated) report.warn('The dates of sales name no time zone in this export; they are read as UTC.')
  return { price, salePrice: sale, saleStart, saleEnd: dateOf(row, 'Date sale price ends', true) }
}

/**
 * WooCommerce writes `2026-11-30 23:59:59` in the shop's own time, without saying which; it is read as UTC. A mere date
 * that ends a sale means the whole of that day. What is no date goes through, to be refused.
 */
function dateOf(row: Row, column: string, isEnd: boolean): string | null {
  const cell = row.cell(column)
  const match = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?$/.exec(cell)
  if (!match) return cell || null
  const [, day = '', hour, minute = '00', second = '00'] = match
  if (hour !== undefined) return `${day}T${hour.padStart(2, '0')}:${minute}:${second}Z`
  return isEnd ? `${day}T23:59:59Z` : day
}

/** The short description comes first; the exporter writes line breaks as `\n` and a real `\n` as `\\n`. */
export function descriptionOf(row: Row): string {
  const parts = ['Short description', 'Description'].map((column) => {
    const cell = row.cell(column).replaceAll(/\\\\n|\\n/g, (written) => (written === '\\n' ? '\n' : '\\n'))
    return htmlToText(cell)
  })
  return [...new Set(parts)].filter((part) => part !== '').join('\n\n')
}

/** A row's attributes by lower-case name, with the values it has of each; a variation's empty list means "any". */
export function attributesOf({ columns }: Table, row: Row): { name: string; values: string[]; standard: string }[] {
  return columns.flatMap((column) => {
    const number = /^attribute (\d+) name$/i.exec(column)?.[1]
    const name = number === undefined ? '' : row.cell(column)
    if (name === '') return []
    const values = splitList(row.cell(`Attribute ${number} value(s)`))
    return [{ name: name.toLowerCase(), values, standard: row.cell(`Attribute ${number} default`) }]
  })
}

export type WooDownload = { kind: 'download'; file: string; days: number | null }

/** Downloads become grants of the file's own name; where it has to be put is for the operator. */
export function downloadsOf({ columns }: Table, row: Row): WooDownload[] {
  const expiry = row.cell('Download expiry days')
  const days = /^[1-9]\d{0,4}$/.test(expiry) ? Number(expiry) : null
  const files = columns.flatMap((column) => {
    const address = /^download \d+ url$/i.test(column) ? row.cell(column) : ''
    const file = fileName(address)
    return file === undefined ? [] : [file]
  })
  return [...new Set(files)].map((file) => ({ kind: 'download', file, days }))
}

function fileName(address: string): string | undefined {
  const path = (URL.parse(address)?.pathname ?? address).split(/[\\/]/).at(-1) ?? ''
  try {
    const name = decodeURIComponent(path)
      .replaceAll(/[\\/:\p{Cc}]/gu, '')
      .trim()
    return name === '' || name === '.' || name === '..' ? undefined : name
  } catch (error) {
    // A stray percent sign is part of the name.
    if (error instanceof URIError) return path.replaceAll(/[:\p{Cc}]/gu, '') || undefined
    throw error
  }
}
