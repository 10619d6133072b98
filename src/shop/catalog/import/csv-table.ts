import { CsvError, parse } from 'csv-parse/sync'
import { refuseFile } from './report.ts'
import { AppError } from '../../../errors.ts'
import { toMinor } from '../../../platform/money.ts'
import { isKeyOf } from '../../../platform/typed.ts'
import { measures } from './fields.ts'
import type { TaxClass } from '../../tax/input.ts'
import { isUtf8 } from 'node:buffer'

/** A record of the file. `line` is the physical line it starts on; `cell` returns '' for a column that does not exist. */
export type Row = { line: number; cells: string[]; cell: (column: string) => string }
export type Table = {
  columns: string[]
  has: (column: string) => boolean
  /** The name that a column has in the file, which differs for a renamed one. Undefined names are returned unchanged. */
  titleOf: (column: string) => string
  rows: Row[]
}

const causes: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'A quoted cell that starts in this row is not closed.',
  CSV_INVALID_CLOSING_QUOTE: 'A quote inside a quoted cell must be doubled.',
  INVALID_OPENING_QUOTE: 'A cell that contains a quote must be quoted.'
}

/**
 * Parses CSV text. The first record contains the column names, which are matched ignoring case. The separator is the
 * comma, or the semicolon or tab when the header has more of those, or the one of a first line such as `sep=;`, which
 * Excel writes. Empty rows are dropped.
 *
 * @throws AppError VALIDATION_FAILED for text that is not valid CSV
 */
export function readTable(text: string): Table {
  // csv-parse counts \r\n within quotes as two lines, so all line ends become \n first.
  const lines = text.replace(/\r\n?/g, '\n')
  const [first = '', declared] = /^"?sep=([^"\n])"?\n/i.exec(lines) ?? []
  const rest = lines.slice(first.length)
  const records = readRecords(rest, declared ?? delimiterOf(rest), first === '' ? 0 : 1)
  const [header, ...body] = records
  if (!header || header.cells.every((name) => name.trim() === '')) refuseFile(1, null, 'The file is empty.')
  const columns = distinct(header.cells.map((name, index) => name.trim() || `Column ${index + 1}`))
  const rows = body.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  for (const { line, cells } of rows) {
    const extra = cells.slice(columns.length).some((cell) => cell.trim() !== '')
    if (extra)
      refuseFile(line, null, 'The row has more cells than the header. A cell that contains a separator must be quoted.')
  }
  return toTable(columns, columns, rows)
}

/**
 * Gives columns other names. Their cells are found by the new name; messages show the one of the file. Two columns of the
 * same name stay distinct.
 */
export function renameColumns(table: Table, rename: (column: string) => string): Table {
  const titles = table.columns.map(table.titleOf)
  return toTable(
    distinct(table.columns.map(rename)),
    titles,
    table.rows.map(({ line, cells }) => ({ line, cells }))
  )
}

type CsvRecord = { line: number; cells: string[] }

function toTable(columns: string[], titles: readonly string[], records: readonly CsvRecord[]): Table {
  const places = new Map(columns.map((name, index) => [name.toLowerCase(), index]))
  const placeOf = (column: string): number => places.get(column.toLowerCase()) ?? -1
  return {
    columns,
    has: (column) => placeOf(column) !== -1,
    titleOf: (column) => titles[placeOf(column)] ?? column,
    rows: records.map(({ line, cells }) => ({
      line,
      cells,
      cell: (column) => unescapeFormula(cells[placeOf(column)] ?? '')
    }))
  }
}

function readRecords(text: string, delimiter: string, linesBefore: number): CsvRecord[] {
  const records: CsvRecord[] = []
  let lastLine = 0
  try {
    parse(text, {
      delimiter,
      record_delimiter: '\n',
      relax_column_count: true,
      on_record: (cells: string[], { lines }) => {
        records.push({ line: linesBefore + lastLine + 1, cells })
        lastLine = lines
        return null
      }
    })
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    refuseFile(linesBefore + lastLine + 1, null, causes[error.code] ?? 'The row is not valid CSV.')
  }
  return records
}

/** The separator that the header has most of, outside of quotes. */
export function delimiterOf(text: string): string {
  const end = text.indexOf('\n')
  const header = (end === -1 ? text : text.slice(0, end)).replaceAll(/"[^"]*"/g, '')
  const counts = [',', ';', '\t'].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }))
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).delimiter
}

/** A repeated column name becomes `Name (2)`, so that its cells are reported as ignored. */
function distinct(names: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return names.map((name) => {
    const count = (seen.get(name.toLowerCase()) ?? 0) + 1
    seen.set(name.toLowerCase(), count)
    return count === 1 ? name : `${name} (${count})`
  })
}

/** WooCommerce writes an apostrophe before a cell that a spreadsheet would run as a formula (`'-5`, `'=…`). */
export function unescapeFormula(cell: string): string {
  return /^'[=+\-@\t]/.test(cell) ? cell.slice(1).trim() : cell.trim()
}

/**
 * Normalizes a number: a decimal comma becomes a point; currency signs, spaces and the thousands separators of a number
 * with both separators are removed. `1,234` is a decimal number, because exports do not group digits.
 */
export function decimalText(cell: string): string {
  const text = cell.replaceAll(/[\s\p{Sc}]/gu, '')
  if (/^\d{1,3}(?:\.\d{3})+,\d+$/.test(text)) return text.replaceAll('.', '').replace(',', '.')
  if (/^\d{1,3}(?:,\d{3})+\.\d+$/.test(text)) return text.replaceAll(',', '')
  if (/^\d*,\d+$/.test(text)) return decimalText(text.replace(',', '.'))
  return /^\.\d+$/.test(text) ? `0${text}` : text
}

/** Whether `price` is lower than `than`. True for invalid prices, so that the format's own check reports them. */
export function isCheaper(price: string, than: string, currency: string): boolean {
  try {
    return toMinor(price, currency) < toMinor(than, currency)
  } catch (error) {
    if (error instanceof AppError) return true
    throw error
  }
}

/** A stock cell as a number; negative stock becomes 0. Other text is returned unchanged, so that the format refuses it. */
export function stockCount(cell: string): number | string {
  return /^-?\d{1,9}(?:\.0+)?$/.test(cell) ? Math.max(0, Number(cell)) : cell
}

/** Whether a cell means yes. An empty cell is neither truthy nor falsy. */
export function isTruthy(cell: string): boolean {
  return /^(?:true|yes|1)$/i.test(cell)
}

/** Whether a cell means no. */
export function isFalsy(cell: string): boolean {
  return /^(?:false|no|0)$/i.test(cell)
}

/** Splits a list cell at commas. WooCommerce escapes a comma within a name with a backslash. */
export function splitList(cell: string): string[] {
  return cell
    .split(/(?<!\\),/)
    .map((entry) => entry.replaceAll('\\,', ',').trim())
    .filter((entry) => entry !== '')
}

/** Words for a reduced tax rate: WooCommerce's classes have names in the shop's language. */
const reduced = /r[eé]du|verlaagd|laag|erm(?:ä|ae?)/i
const zero = /zero|null|nul|cero/i

/** The tax class of the name of one in another program. Undefined for a name that is not known. */
export function toTaxClass(name: string): TaxClass | undefined {
  if (name === '' || /^standard/i.test(name)) return 'standard'
  if (zero.test(name)) return 'zero'
  return reduced.test(name) ? 'reduced' : undefined
}

/** Category cells such as `Clothing > Shirts` as paths, without the category that WooCommerce and Shopify use for none. */
export function categoryPaths(cells: readonly string[]): string[] {
  return cells.map((cell) => cell.split('>').map(trimmed).filter(isCategory).join(' > ')).filter((path) => path !== '')
}

const trimmed = (name: string): string => name.trim()

/** WooCommerce's category for none has a name in the shop's language. */
const noCategory =
  /^(?:uncategori[sz]ed|unkategorisiert|non classé|sin categorizar|sin categoría|geen categorie|ongecategoriseerd|niet gecategoriseerd)$/i

function isCategory(name: string): boolean {
  return name !== '' && !noCategory.test(name.normalize('NFC'))
}

export const notUtf8 = 'The file is not UTF-8 text. Save it with the encoding UTF-8.'

export type Encoding = 'UTF-8' | 'UTF-16' | 'Windows-1252'

/**
 * Decodes the content of a file: UTF-8, UTF-16 with or without a byte order mark, or Windows-1252, which includes the
 * characters of Latin-1. Spreadsheets write all of them.
 *
 * @throws AppError VALIDATION_FAILED for JSON, and for text that is partly UTF-8, when it is not valid UTF-8
 */
export function decodeText(content: string | Uint8Array): { text: string; encoding: Encoding } {
  if (typeof content === 'string') return { text: content.replace(/^\ufeff/, ''), encoding: 'UTF-8' }
  const utf16 = utf16Of(content)
  if (utf16 !== undefined) return { text: new TextDecoder(utf16).decode(content), encoding: 'UTF-16' }
  if (isUtf8(content)) return { text: new TextDecoder().decode(content), encoding: 'UTF-8' }
  const text = new TextDecoder('windows-1252').decode(content)
  // JSON is always UTF-8. In Windows-1252, a text with accents almost never contains a valid sequence of UTF-8.
  if (/^\s*[[{]/.test(text) || hasUtf8Sequence(text)) {
    refuseFile(lineOfBadByte(content), null, notUtf8)
  }
  return { text, encoding: 'Windows-1252' }
}

/** By the byte order mark, or by the zero bytes that UTF-16 has in each letter of the header. */
export function utf16Of(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  const start = bytes.subarray(0, 64)
  if (start.length < 4 || start.length % 2 === 1) return undefined
  const zeros = [0, 0]
  for (const [index, byte] of start.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const half = start.length / 2
  if (even === 0 && odd > half * 0.7) return 'utf-16le'
  return odd === 0 && even > half * 0.7 ? 'utf-16be' : undefined
}

/** The characters that Windows-1252 makes of a letter of two bytes in UTF-8: `Ã¤` instead of `ä`. */
export function hasUtf8Sequence(text: string): boolean {
  return /[ÂÃ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]/.test(text)
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

const grams: Readonly<Record<string, number>> = {
  g: 1,
  kg: 1000,
  lb: 453.592_37,
  lbs: 453.592_37,
  livre: 453.592_37,
  livres: 453.592_37,
  oz: 28.349_523_125,
  once: 28.349_523_125,
  onces: 28.349_523_125
}
const millimetres: Readonly<Record<string, number>> = { mm: 1, cm: 10, m: 1000, in: 25.4, yd: 914.4 }

/** A weight in whole grams. Undefined for an unknown unit and for a cell that is not a weight; null for an empty cell. */
export function toGrams(cell: string, unit: string): number | null | undefined {
  return convert(cell, grams[unit.trim().toLowerCase()])
}

/** As `toGrams`, a length in whole millimetres. */
export function toMillimetres(cell: string, unit: string): number | null | undefined {
  return convert(cell, millimetres[unit.trim().toLowerCase()])
}

/** Names that other shops use for the units, and how much of a unit one of theirs is. */
const otherUnits: ReadonlyMap<string, readonly [keyof typeof measures, number]> = new Map([
  ['litre', ['l', 1]],
  ['liter', ['l', 1]],
  ['mm', ['cm', 0.1]],
  ['m2', ['sqm', 1]],
  ['m²', ['sqm', 1]],
  ['qm', ['sqm', 1]],
  ['m3', ['cbm', 1]],
  ['m³', ['cbm', 1]],
  ['item', ['ct', 1]],
  ['items', ['ct', 1]],
  ['piece', ['ct', 1]],
  ['pcs', ['ct', 1]],
  ['stk', ['ct', 1]],
  ['stück', ['ct', 1]]
])

/**
 * How much one unit contains, from the cells of another shop's export, as the format takes it (`750 ml`). Null without an
 * amount, undefined for a unit that is unknown here and for an amount that is not a number.
 */
export function toUnitMeasure(amountCell: string, unitCell: string): string | null | undefined {
  const amount = decimalText(amountCell)
  if (amount === '' || /^0*(?:\.0*)?$/.test(amount)) return null
  const name = unitCell.trim().toLowerCase()
  const [unit, factor] = isKeyOf(measures, name) ? [name, 1] : (otherUnits.get(name) ?? [undefined, 0])
  if (unit === undefined || !/^\d{1,6}(?:\.\d+)?$/.test(amount)) return undefined
  return `${Number((Number(amount) * factor).toFixed(3))} ${unit}`
}

/** The unit in a column name, such as `Weight (kg)`. */
export function unitOf(column: string): string {
  return /\(([^()]*)\)\s*$/.exec(column)?.[1] ?? ''
}

function convert(cell: string, factor: number | undefined): number | null | undefined {
  if (cell === '') return null
  const text = decimalText(cell)
  if (factor === undefined || !/^\d{1,9}(?:\.\d+)?$/.test(text)) return undefined
  return Math.round(Number(text) * factor)
}
