import type { Db } from '../../platform/db/database.ts'
import { toDecimalText, toMajor } from '../../platform/money.ts'
import { taxSums } from '../../shop/invoices/tax-sums.ts'
import type { TaxSum } from '../../shop/invoices/tax-sums.ts'
import { toCsv } from '../../platform/csv.ts'
import { setting } from '../../shop/settings/settings.ts'

/** Amounts in major units. */
export type TaxReport = {
  /** Days in `timeZone`, both included. */
  from: string
  to: string
  timeZone: string
  rows: TaxRow[]
  totals: { currency: string; net: number; tax: number; gross: number }[]
}

type TaxRow = Pick<
  TaxSum,
  'country' | 'region' | 'name' | 'reverseCharge' | 'currency' | 'invoices' | 'creditNotes'
> & {
  ratePercent: number
  net: number
  tax: number
  gross: number
}

/** What the shop owes in tax for some days (YYYY-MM-DD, both included): its invoices minus its credit notes. */
export function reportTax(db: Db, { from, to }: { from: string; to: string }): { sums: TaxSum[]; report: TaxReport } {
  const sums = taxSums(db, { from, to })
  const totals = [...Map.groupBy(sums, ({ currency }) => currency)].map(([currency, rows]) => ({
    currency,
    ...amountsOf({
      currency,
      netMinor: rows.reduce((sum, { netMinor }) => sum + netMinor, 0),
      taxMinor: rows.reduce((sum, { taxMinor }) => sum + taxMinor, 0)
    })
  }))
  return { sums, report: { from, to, timeZone: setting(db, 'shop.timeZone'), rows: sums.map(toRow), totals } }
}

function toRow({ netMinor, taxMinor, rateMillionths, ...row }: TaxSum): TaxRow {
  return { ...row, ratePercent: rateMillionths / 10_000, ...amountsOf({ ...row, netMinor, taxMinor }) }
}

function amountsOf({ currency, netMinor, taxMinor }: Pick<TaxSum, 'currency' | 'netMinor' | 'taxMinor'>) {
  const major = (minor: number): number => toMajor(minor, currency)
  return { net: major(netMinor), tax: major(taxMinor), gross: major(netMinor + taxMinor) }
}

const columns = [
  'country',
  'region',
  'tax',
  'rate_percent',
  'reverse_charge',
  'currency',
  'net',
  'tax_amount',
  'gross',
  'invoices',
  'credit_notes'
]

/** The rows as CSV, one line each. Amounts are in major units. */
export function taxCsv(sums: readonly TaxSum[]): string {
  return toCsv(
    columns,
    sums.map(({ country, region, name, rateMillionths, reverseCharge, currency, netMinor, taxMinor, ...counts }) => [
      country,
      region,
      name,
      rateMillionths / 10_000,
      reverseCharge ? 'yes' : 'no',
      currency,
      cell(netMinor, currency),
      cell(taxMinor, currency),
      cell(netMinor + taxMinor, currency),
      counts.invoices,
      counts.creditNotes
    ])
  )
}

/** A text that starts with a minus would be escaped as a formula. A number is not. */
function cell(minor: number, currency: string): string | number {
  return minor < 0 ? toMajor(minor, currency) : toDecimalText(minor, currency)
}
