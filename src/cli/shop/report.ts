import { Option } from 'commander'
import stringWidth from 'fast-string-width'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { reports } from '../../operations/reports/list.ts'
import { plainFormat, reportHtml } from '../../operations/reports/report.ts'
import type { MadeReport, Report, ReportPage } from '../../operations/reports/report.ts'
import { toIso } from '../../platform/iso-time.ts'
import { setting } from '../../shop/settings/settings.ts'
import type { ShopCommand, Work } from '../run.ts'
import { writeNewFile } from '../terminal/files.ts'
import { parseLimit } from '../terminal/arguments.ts'
import { mostColumns, wrap, showProgress } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { addCommand, runs } from '../run.ts'
import { table } from '../terminal/table.ts'
import type { Table } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

export function define(program: ShopCommand): void {
  const group = program.command('report').description(reports.map(({ name }) => name).join(', '))
  for (const report of reports) defineOne(group, report)
}

function defineOne(group: ShopCommand, report: Report<App>): void {
  const command = addCommand(group, report.name, report.about, report.example)
  for (const { flags, about, choices, count } of report.options) {
    const option = new Option(flags, about)
    if (choices !== undefined) option.choices(choices)
    if (count !== undefined) option.argParser(parseLimit).default(count)
    command.addOption(option)
  }
  for (const { flags, about } of report.period.options) command.option(flags, about)
  if (report.formats.length > 1) command.addOption(formatOption(report.formats))
  command
    .option('--csv <file>', 'write the rows to a new CSV file')
    .option('--html <file>', 'write a page with charts to a new HTML file, to look at and to print')
  runs(command, async (work: Work<Options>) => {
    const { app, options, now } = work
    const progress = showProgress(work)
    const made = await report.make(app, options, now, progress.step).finally(progress.done)
    return answer(work, made)
  })
}

/** The formats of the file that --csv writes. */
function formatOption(formats: Report<App>['formats']): Option {
  const about = formats.map((format) => `${format.name} (${format.about})`).join(', ')
  return new Option('--format <name>', `what --csv writes: ${about}`).choices(formats.map(({ name }) => name))
}

type Options = { csv?: string; html?: string; format?: string } & Readonly<Record<string, unknown>>

/** Prints a report, and writes the files that were asked for. */
function answer({ app, options, now, terminal }: Work<Options>, made: MadeReport): Answer {
  const { head, totals, rows, page } = made
  const { csv: file, html, format } = options
  if (format !== undefined && file === undefined)
    throw new AppError('USAGE', '--format says what --csv writes. Pass --csv FILE with it.')
  if (file !== undefined) writeNewFile(file, made.file(format ?? plainFormat))
  if (html !== undefined) writeNewFile(html, reportHtml(setting(app.db, 'shop.name'), page, toIso(now)))
  return {
    json: { ...head, ...(totals === undefined ? {} : { totals }), ...(file === undefined ? { rows } : { file }) },
    human: [
      ...pageLines(page, terminal, { withRows: file === undefined }),
      ...(file === undefined ? [] : [`${rows.length} rows written to ${file}.`]),
      ...(html === undefined ? [] : [`Page written to ${html}.`])
    ]
  }
}

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
function rowsOf({ columns, rows }: Pick<ReportPage, 'columns' | 'rows'>, { stdout }: Terminal): Table {
  const shown = columns.map((column, index) => ({ ...column, index })).filter(({ isDetail }) => !isDetail)
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
    row.map((cell, column) => (shown[column]?.isNumber && room > -gap ? padStart(cell, widths[column] ?? 0) : cell))
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
