import { AppError } from '../errors.ts'
import { reportTax, taxCsv } from '../operations/reports/tax.ts'
import { formatMoney } from '../platform/money.ts'
import { countryName } from '../platform/postal/countries.ts'
import { shopDay } from '../shop/invoices/day.ts'
import type { TaxSum } from '../shop/invoices/tax-sums.ts'
import { rateLabel } from '../shop/tax/arithmetic.ts'
import type { ShopCommand } from './command.ts'
import { writeCsv } from './csv-file.ts'
import type { Answer } from './output.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'
import { table } from './table.ts'
import type { Table } from './table.ts'

type TaxOptions = { from?: string; to?: string; csv?: string }

/** The report for the bookkeeper: invoices minus credit notes by country and rate. */
export function defineTax(group: ShopCommand): void {
  const tax = addCommand(
    group,
    'tax',
    'sum the invoices minus the credit notes of some days by country and tax rate',
    'report tax --from 2026-01-01 --to 2026-03-31 --csv first-quarter.csv'
  )
    .option('--from <date>', 'first day (default: the first of the month of the last day)')
    .option('--to <date>', 'last day (default: today, in the time zone of the shop)')
    .option('--csv <file>', 'write the rows to a new CSV file')
  runs(tax, 'migrated', show)
}

function show({ app, options, now }: Work<TaxOptions>): Answer {
  const to = options.to === undefined ? shopDay(app.db, now) : parseDay('--to', options.to)
  const from = options.from === undefined ? `${to.slice(0, 7)}-01` : parseDay('--from', options.from)
  if (from > to) throw new AppError('USAGE', '--from must not be after --to.')
  const { sums, report } = reportTax(app.db, { from, to })
  const { csv } = options
  if (csv !== undefined) writeCsv(csv, taxCsv(sums))
  const { rows: _rows, ...summary } = report
  const period = `${from} to ${to} (${report.timeZone})`
  return {
    json: csv === undefined ? report : { ...summary, file: csv },
    human:
      sums.length === 0
        ? `No invoices from ${period}.`
        : [
            `Invoices minus credit notes from ${period}:`,
            csv === undefined ? tableOf(sums) : `${sums.length} rows written to ${csv}.`
          ]
  }
}

function tableOf(sums: readonly TaxSum[]): Table {
  const lines = sums.map(({ country, region, reverseCharge, currency, netMinor, taxMinor, ...rest }) => [
    [country === '' ? 'not known' : countryName(country), region].filter((part) => part !== '').join(', '),
    reverseCharge ? 'reverse charge' : rest.rateMillionths === 0 && rest.name === '' ? 'no tax' : rateLabel(rest),
    formatMoney(netMinor, currency),
    formatMoney(taxMinor, currency),
    formatMoney(netMinor + taxMinor, currency)
  ])
  const totals = [...Map.groupBy(sums, ({ currency }) => currency)].map(([currency, rows]) => {
    const net = rows.reduce((sum, { netMinor }) => sum + netMinor, 0)
    const tax = rows.reduce((sum, { taxMinor }) => sum + taxMinor, 0)
    return ['Total', '', formatMoney(net, currency), formatMoney(tax, currency), formatMoney(net + tax, currency)]
  })
  return table(['Country', 'Tax', 'Net', 'Tax amount', 'Gross'], [...lines, ...totals])
}

/** @throws AppError USAGE */
function parseDay(option: string, text: string): string {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
  // Date.parse takes 31 February for 3 March.
  if (!isDay || new Date(text).toISOString().slice(0, 10) !== text)
    throw new AppError('USAGE', `${option} takes a date such as 2026-01-31.`)
  return text
}
