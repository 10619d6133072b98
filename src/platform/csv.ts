import { stringify } from 'csv-stringify/sync'

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
