import { toCsv } from '../../platform/csv.ts'
import { formatMoney, toMajor } from '../../platform/money.ts'

export type Value = string | number | boolean | null

/** A bar of a chart; `text` is its value in words. */
export type Bar = { label: string; value: number; text: string }

/** `columns` stand side by side, for a course of time; `bars` lie below each other, for names. */
export type Chart = { title: string; kind: 'columns' | 'bars'; bars: Bar[] }

/** `isDetail`: only a page has room for it. */
export type Column = { name: string; isNumber?: true; isDetail?: true }

/** A report for people: the text of a terminal and of a page. */
export type ReportPage = {
  title: string
  subtitle: string
  figures: { label: string; value: string }[]
  charts: Chart[]
  columns: Column[]
  rows: { cells: string[]; bar?: number }[]
  notes: string[]
}

/** A report. `rows` are public JSON with amounts in major units; `head` is what else its JSON says. */
export type Report = { head: object; rows: Record<string, Value>[]; page: ReportPage }

/** The rows as CSV. The columns are the names of the JSON in snake case. */
export function reportCsv(names: readonly string[], rows: Report['rows']): string {
  const columns = names.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  const cell = (value: Value | undefined): string | number | null =>
    typeof value === 'boolean' ? (value ? 'yes' : 'no') : (value ?? null)
  return toCsv(
    columns,
    rows.map((row) => names.map((name) => cell(row[name])))
  )
}

/** Amounts by the name of their column in major units; the names lose `Minor`. */
export function toAmounts<T extends Record<string, number>>(minor: T, currency: string): Record<string, number> {
  return Object.fromEntries(
    Object.entries(minor).map(([name, amount]) => [name.replace(/Minor$/, ''), toMajor(amount, currency)])
  )
}

/** Sums in several currencies as text: `€12.50 and $3.00`. */
export function moneyText(sums: readonly { currency: string; minor: number }[], none: string): string {
  return sums.length === 0 ? none : sums.map(({ currency, minor }) => formatMoney(minor, currency)).join(' and ')
}
