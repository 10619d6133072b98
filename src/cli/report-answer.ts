import stringWidth from 'fast-string-width'
import type { App } from '../app.ts'
import { reportHtml } from '../operations/reports/report-page.ts'
import { reportCsv } from '../operations/reports/report.ts'
import type { Report, ReportPage } from '../operations/reports/report.ts'
import { toIso } from '../platform/iso-time.ts'
import { setting } from '../shop/settings/settings.ts'
import type { ShopCommand } from './command.ts'
import { writeCsv, writeNewFile } from './csv-file.ts'
import { mostColumns, wrap } from './output.ts'
import type { Answer } from './output.ts'
import type { Work } from './run.ts'
import { table } from './table.ts'
import type { Table } from './table.ts'
import type { Terminal } from './terminal.ts'

export type FileOptions = { csv?: string; html?: string }

/** Adds the options that write a report to files. */
export function withFiles(command: ShopCommand): ShopCommand {
  return command
    .option('--csv <file>', 'write the rows to a new CSV file')
    .option('--html <file>', 'write a page with charts to a new HTML file, to look at and to print')
}

/** Adds the options of a report about whole days in the time zone of the shop, and those of its files. */
export function withDays(command: ShopCommand, first = 'the first of the month of the last day'): ShopCommand {
  const dated = command
    .option('--from <date>', `first day (default: ${first})`)
    .option('--to <date>', 'last day (default: today, in the time zone of the shop)')
  return withFiles(dated)
}

/**
 * Prints a report, and writes the files that were asked for.
 *
 * @param columns of the CSV file: the names of the JSON
 */
export function reportAnswer(work: Work<FileOptions>, report: Report, columns: readonly string[]): Answer {
  const { options, terminal } = work
  const { csv } = options
  if (csv !== undefined) writeCsv(csv, reportCsv(columns, report.rows))
  const lines = writePage(work, report.page)
  return {
    json: { ...report.head, ...(csv === undefined ? { rows: report.rows } : { file: csv }) },
    human: [
      ...pageLines(report.page, terminal, { withRows: csv === undefined }),
      ...(csv === undefined ? [] : [`${report.rows.length} rows written to ${csv}.`]),
      ...lines
    ]
  }
}

/** Writes the page of a report if `--html` asks for it, and says so. */
export function writePage({ app, options, now }: Work<FileOptions>, page: ReportPage): string[] {
  const { html } = options
  if (html === undefined) return []
  writeNewFile(html, reportHtml(nameOf(app), page, toIso(now)))
  return [`Page written to ${html}.`]
}

const nameOf = ({ db }: App): string => setting(db, 'shop.name')

/** A report in a terminal: its sums, its rows with bars, and its notes. */
function pageLines(page: ReportPage, terminal: Terminal, { withRows }: { withRows: boolean }): (string | Table)[] {
  const sums = page.figures.map(({ label, value }) => `${label}: ${value}`).join(' · ')
  return [
    ...wrap(`${page.title}, ${page.subtitle}`, '  '),
    ...wrap(sums, '  '),
    ...(withRows && page.rows.length > 0 ? ['', rowsOf(page, terminal), ''] : []),
    ...page.notes.flatMap((note) => wrap(note, '  '))
  ]
}

/** The rows of a report as a table, on a terminal with a bar in each that has one. */
export function rowsOf({ columns, rows }: Pick<ReportPage, 'columns' | 'rows'>, { stdout }: Terminal): Table {
  const shown = columns.map((column, index) => ({ ...column, index })).filter(({ isDetail }) => isDetail !== true)
  const cells = [columns.map(({ name }) => name), ...rows.map((row) => row.cells)].map((row) =>
    shown.map(({ index }) => row[index] ?? '')
  )
  const widths = shown.map((_, column) =>
    cells.reduce((widest, row) => Math.max(widest, stringWidth(row[column] ?? '')), 0)
  )
  const columnsOfText = widths.reduce((sum, width) => sum + width + gap, 0)
  const room = stdout.isTTY ? (stdout.columns || mostColumns) - columnsOfText : 0
  // A table that is too wide has its cells broken between words, and then no column is aligned.
  const aligned = cells.map((row) =>
    row.map((cell, column) =>
      shown[column]?.isNumber === true && room > -gap ? padStart(cell, widths[column] ?? 0) : cell
    )
  )
  const [head = [], ...lines] = aligned
  const most = rows.reduce((longest, { bar = 0 }) => Math.max(longest, bar), 0)
  if (room < 5 || most === 0) return table(head, lines)
  const bars = rows.map(({ bar = 0 }) => '█'.repeat(Math.ceil((Math.max(0, bar) / most) * Math.min(room, 40))))
  return table(
    [...head, ''],
    lines.map((row, index) => [...row, bars[index] ?? ''])
  )
}

/** Between the columns of a table. */
const gap = 2

const padStart = (text: string, width: number): string => ' '.repeat(Math.max(0, width - stringWidth(text))) + text
