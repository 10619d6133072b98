import { toIso } from '../../../platform/iso-time.ts'
import { decimalText, isFalsy, isTruthy } from '../../../shop/catalog/import/csv-table.ts'
import { parseAmount } from '../amounts.ts'
import type { CsvFile, CsvRow } from './csv-file.ts'

/** A cell that is wrong, or empty although it is required. Its row is left out. The message says what the cell accepts. */
export class CellError extends Error {}

/** The cells of a row by field, checked. Each method throws a CellError that names the column. */
export type Cells = {
  line: number
  /** Whether the row has more cells than the header. */
  isTooLong: boolean
  text(field: string): string
  /** @throws CellError for an empty cell */
  required(field: string): string
  /** An amount in minor units; null for an empty cell. */
  money(field: string, currency: string): number | null
  /** An amount that was taken from a cell of the field. */
  amount(field: string, text: string, currency: string): number
  /** A whole number; null for an empty cell. */
  count(field: string): number | null
  /** A percentage in basis points; null for an empty cell. */
  percentBps(field: string): number | null
  /** A time; null for an empty cell. Without an offset it is UTC. */
  time(field: string): number | null
  /** Whether a cell means yes; null for an empty cell. */
  flag(field: string): boolean | null
  /** One of some words; null for an empty cell. */
  word<T extends string>(field: string, words: readonly T[]): T | null
}

export function cellsOf(file: CsvFile, row: CsvRow): Cells {
  const refuse = (field: string, rule: string): CellError => new CellError(`${file.titleOf(field)} must be ${rule}`)
  const text = (field: string): string => plain(row.cell(field))
  const read = <T>(field: string, rule: string, parse: (cell: string) => T | undefined): T | null => {
    const cell = text(field)
    if (cell === '') return null
    const value = parse(cell)
    if (value === undefined) throw refuse(field, rule)
    return value
  }
  return {
    line: row.line,
    isTooLong: row.isTooLong,
    text,
    required: (field) => {
      const cell = text(field)
      if (cell === '') throw new CellError(`${file.titleOf(field)} is empty`)
      return cell
    },
    money: (field, currency) => read(field, 'an amount such as 12.50', (cell) => parseAmount(cell, currency)),
    amount: (field, value, currency) => {
      const minor = parseAmount(value, currency)
      if (minor === undefined) throw refuse(field, 'an amount such as 12.50')
      return minor
    },
    count: (field) =>
      read(field, 'a whole number', (cell) => (/^\d{1,9}(?:\.0+)?$/.test(cell) ? Math.trunc(Number(cell)) : undefined)),
    percentBps: (field) =>
      read(field, 'a percentage from 0 to 100', (cell) => {
        const value = decimalText(cell.replace(/%$/, ''))
        return /^\d{1,3}(?:\.\d+)?$/.test(value) && Number(value) <= 100 ? Math.round(Number(value) * 100) : undefined
      }),
    time: (field) => read(field, 'a time such as 2026-05-01 12:30:00 +0200', parseTime),
    flag: (field) => read(field, 'yes or no', (cell) => (isTruthy(cell) ? true : isFalsy(cell) ? false : undefined)),
    word: (field, words) =>
      read(field, `one of ${words.join(', ')}`, (cell) => words.find((word) => word === cell.toLowerCase()))
  }
}

/** Shopify writes an apostrophe before digits, so that spreadsheets keep their zeros. */
function plain(cell: string): string {
  return cell.trim().replace(/^'(?=[\d+])/, '')
}

const timeText = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?: ?(Z|UTC|[+-]\d\d:?\d\d))?)?$/

/** `2025-12-08 11:28:18 -0600` as Shopify writes it, ISO 8601, and days. */
export function parseTime(cell: string): number | undefined {
  const [, day = '', clock = '00:00:00', offset = 'Z'] = timeText.exec(cell) ?? []
  const zone = offset === 'UTC' ? 'Z' : offset.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')
  const at = Date.parse(`${day}T${clock}${zone}`)
  const midnight = Date.parse(`${day}T00:00:00Z`)
  // JavaScript takes the 31st of February for the 3rd of March.
  const isDay = !Number.isNaN(midnight) && toIso(midnight).startsWith(day)
  return day === '' || !isDay || Number.isNaN(at) || at < 0 ? undefined : at
}
