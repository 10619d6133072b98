import { paymentsCsv, toPaymentView, totalsOf } from '../operations/reports/payments/export.ts'
import { paymentsPage } from '../operations/reports/payments/page.ts'
import { reportPayments } from '../operations/reports/payments/report.ts'
import type { PaymentRow } from '../operations/reports/payments/row.ts'
import { toIso } from '../platform/iso-time.ts'
import type { ShopCommand } from './command.ts'
import { writeCsv } from './csv-file.ts'
import { wrap } from './output.ts'
import type { Answer } from './output.ts'
import { defaultDays, parsePeriod } from './period.ts'
import type { PeriodOptions } from './period.ts'
import { showProgress } from './progress.ts'
import { rowsOf, withFiles, writePage } from './report-answer.ts'
import type { FileOptions } from './report-answer.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'

/** Adds the report that compares the shop's payments with Stripe's. */
export function definePayments(group: ShopCommand): void {
  const payments = addCommand(
    group,
    'payments',
    "compare what Stripe charged, kept and paid out with the shop's orders, charge by charge",
    'report payments --from 2026-01-01 --to 2026-01-31 --csv january.csv'
  )
    .option('--from <date>', `first day, or a time (default: ${defaultDays} days before the end)`)
    .option('--to <date>', 'last day, or a time (default: now)')
  runs(withFiles(payments), 'migrated', report)
}

async function report(work: Work<PeriodOptions & FileOptions>): Promise<Answer> {
  const { app, options, now, terminal } = work
  const period = parsePeriod(options, now)
  const progress = showProgress(work)
  const done = await reportPayments(app, period, progress.step).finally(progress.done)
  const { csv } = options
  if (csv !== undefined) writeCsv(csv, paymentsCsv(done.rows))
  const totals = totalsOf(done.rows)
  const page = paymentsPage(done, totals, period)
  const written = writePage(work, page)
  const days = { from: toIso(period.from), to: toIso(period.to) }
  const summary = { ...days, foreign: done.foreign, differences: countDifferences(done.rows), totals }
  const shown = done.rows.length === 0 ? [] : [rowsOf(page, terminal)]
  return {
    json: csv === undefined ? { ...summary, rows: done.rows.map(toPaymentView) } : { ...summary, file: csv },
    human: [
      ...(csv === undefined ? shown : [`${done.rows.length} charges written to ${csv}.`]),
      ...page.notes.flatMap((line) => wrap(line, line.startsWith('- ') ? '  ' : '')),
      ...written
    ]
  }
}

function countDifferences(rows: readonly PaymentRow[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const kind of rows.flatMap(({ differences }) => differences)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return Object.fromEntries(counts)
}
