import { stringify } from 'csv-stringify/sync'
import { toDecimalText, toMajor } from './money.ts'

export type CsvCell = string | number | null

/** CSV for spreadsheets. */
export function toCsv(columns: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return toCsvRows([columns, ...rows])
}

/**
 * Rows as CSV without a head, each with its line break. Cells that start like a formula are escaped: users choose names
 * and codes, and a spreadsheet would execute them.
 */
export function toCsvRows(rows: readonly (readonly CsvCell[])[]): string {
  return stringify(
    rows.map((row) => [...row]),
    { escape_formulas: true }
  )
}

/** An amount in major units, with the decimals of its currency. A negative one is a number, because its text starts like a formula. */
export function amountCell(minor: number, currency: string): CsvCell {
  return minor < 0 ? toMajor(minor, currency) : toDecimalText(minor, currency)
}
