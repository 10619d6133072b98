import { reportTax, taxCsv } from '../operations/reports/tax.ts'
import { taxPage } from '../operations/reports/tax-page.ts'
import { shopDay } from '../shop/invoices/day.ts'
import type { ShopCommand } from './command.ts'
import { writeCsv } from './csv-file.ts'
import type { Answer } from './output.ts'
import { firstOfMonth, parseDays } from './period.ts'
import type { PeriodOptions } from './period.ts'
import { rowsOf, withDays, writePage } from './report-answer.ts'
import type { FileOptions } from './report-answer.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'

/** The report for the bookkeeper: invoices minus credit notes by country and rate. */
export function defineTax(group: ShopCommand): void {
  const tax = addCommand(
    group,
    'tax',
    'sum the invoices minus the credit notes of some days by country and tax rate',
    'report tax --from 2026-01-01 --to 2026-03-31 --csv first-quarter.csv'
  )
  runs(withDays(tax), 'migrated', show)
}

function show(work: Work<PeriodOptions & FileOptions>): Answer {
  const { app, options, now, terminal } = work
  const { from, to } = parseDays(options, shopDay(app.db, now), firstOfMonth)
  const { sums, report } = reportTax(app.db, { from, to })
  const { csv } = options
  if (csv !== undefined) writeCsv(csv, taxCsv(sums))
  const page = taxPage(sums, report)
  const written = writePage(work, page)
  const { rows: _rows, ...summary } = report
  const period = `${from} to ${to} (${report.timeZone})`
  const shown = csv === undefined ? rowsOf(page, terminal) : `${sums.length} rows written to ${csv}.`
  return {
    json: csv === undefined ? report : { ...summary, file: csv },
    human: [
      ...(sums.length === 0 ? [`No invoices from ${period}.`] : [`Invoices minus credit notes from ${period}:`, shown]),
      ...written
    ]
  }
}
