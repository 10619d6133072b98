import { toIso } from '../platform/iso-time.ts'
import { formatMoney, toMinor } from '../platform/money.ts'
import { describeDifference } from '../operations/reports/payments/daily.ts'
import { paymentsCsv, toPaymentView, totalsOf } from '../operations/reports/payments/export.ts'
import type { Total } from '../operations/reports/payments/export.ts'
import { reportPayments } from '../operations/reports/payments/report.ts'
import type { PaymentsReport } from '../operations/reports/payments/report.ts'
import type { PaymentRow } from '../operations/reports/payments/row.ts'
import type { ShopCommand } from './command.ts'
import { writeCsv } from './csv-file.ts'
import { defaultDays, parsePeriod } from './period.ts'
import { wrap } from './output.ts'
import type { Answer } from './output.ts'
import { table } from './table.ts'
import type { Table } from './table.ts'
import { showProgress } from './progress.ts'
import { defineTax } from './report-tax.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'

type ReportOptions = { from?: string; to?: string; csv?: string }

export function define(program: ShopCommand): void {
  const group = program.command('report').description('reports')
  const payments = addCommand(
    group,
    'payments',
    "compare what Stripe charged, kept and paid out with the shop's orders, charge by charge",
    'report payments --from 2026-01-01 --to 2026-01-31 --csv january.csv'
  )
    .option('--from <date>', `first day, or a time (default: ${defaultDays} days before the end)`)
    .option('--to <date>', 'last day, or a time (default: now)')
    .option('--csv <file>', 'write the rows to a new CSV file')
  runs(payments, 'migrated', report)
  defineTax(group)
}

async function report(work: Work<ReportOptions>): Promise<Answer> {
  const { app, options, now } = work
  const period = parsePeriod(options, now)
  const progress = showProgress(work)
  const done = await reportPayments(app, period, progress.step).finally(progress.done)
  const { csv } = options
  if (csv !== undefined) writeCsv(csv, paymentsCsv(done.rows))
  const totals = totalsOf(done.rows)
  const days = { from: toIso(period.from), to: toIso(period.to) }
  const summary = { ...days, foreign: done.foreign, differences: countDifferences(done.rows), totals }
  return {
    json: csv === undefined ? { ...summary, rows: done.rows.map(toPaymentView) } : { ...summary, file: csv },
    human: [
      ...(csv === undefined ? tableOf(done.rows) : [`${done.rows.length} charges written to ${csv}.`]),
      ...linesOf(done, totals)
    ]
  }
}

function countDifferences(rows: readonly PaymentRow[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const kind of rows.flatMap(({ differences }) => differences)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return Object.fromEntries(counts)
}

function tableOf(rows: readonly PaymentRow[]): Table[] {
  if (rows.length === 0) return []
  const lines = rows.map(({ at, currency, stripe, shop, differences }) => {
    const money = (minor: number | undefined, unit = currency): string | null =>
      minor === undefined ? null : formatMoney(minor, unit)
    return [
      toIso(at).slice(0, 10),
      shop?.orderId ?? null,
      money(stripe?.amountMinor),
      money(stripe?.refundedMinor),
      money(stripe?.feeMinor, stripe?.balanceCurrency),
      money(stripe?.netMinor, stripe?.balanceCurrency),
      stripe?.payout ? toIso(stripe.payout.arrivesAt).slice(0, 10) : null,
      differences.length === 0 ? '' : 'differs'
    ]
  })
  return [table(['Charged', 'Order', 'Amount', 'Refunded', 'Fee', 'Net', 'Paid out', ''], lines)]
}

function linesOf({ rows, foreign }: PaymentsReport, totals: readonly Total[]): string[] {
  const different = rows.flatMap((row) => row.differences.map((kind) => `- ${describeDifference(kind, row)}`))
  const money = (amount: number, currency: string): string =>
    `${amount < 0 ? '-' : ''}${formatMoney(toMinor(Math.abs(amount).toFixed(3), currency), currency)}`
  return [
    ...totals.map(
      ({ currency, amount, refunded, disputed, fee, net }) =>
        `Total: ${money(amount, currency)} charged, ${money(refunded, currency)} refunded, ${disputed === 0 ? '' : `${money(disputed, currency)} taken by disputes, `}${money(fee, currency)} fees, ${money(net, currency)} net.`
    ),
    rows.length === 0 ? 'No charges of this shop in these days.' : '',
    ...(foreign === 0 ? [] : [`${foreign} charges of other software on this Stripe account are left out.`]),
    different.length === 0 ? 'The shop and Stripe agree.' : 'The shop and Stripe differ:',
    ...different
  ]
    .filter((line) => line !== '')
    .flatMap((line) => wrap(line, line.startsWith('- ') ? '  ' : ''))
}
