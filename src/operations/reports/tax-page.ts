import { formatMoney } from '../../platform/money.ts'
import { countryName } from '../../platform/postal/countries.ts'
import type { TaxSum } from '../../shop/invoices/tax-sums.ts'
import { rateLabel } from '../../shop/tax/arithmetic.ts'
import type { ReportPage } from './report.ts'
import type { TaxReport } from './tax.ts'

type Amounts = Pick<TaxSum, 'netMinor' | 'taxMinor'>

/** The tax report for people. */
export function taxPage(sums: readonly TaxSum[], { from, to, timeZone }: TaxReport): ReportPage {
  const totals = [...Map.groupBy(sums, ({ currency }) => currency)].map(([currency, rows]) => ({
    currency,
    netMinor: rows.reduce((sum, { netMinor }) => sum + netMinor, 0),
    taxMinor: rows.reduce((sum, { taxMinor }) => sum + taxMinor, 0)
  }))
  return {
    title: 'Tax',
    subtitle: `${from} to ${to} (${timeZone})`,
    figures: totals.flatMap(({ currency, ...amounts }) => [
      { label: 'Net', value: formatMoney(amounts.netMinor, currency) },
      { label: 'Tax', value: formatMoney(amounts.taxMinor, currency) }
    ]),
    charts: totals.map(({ currency }) => ({
      title: `Tax by country, ${currency}`,
      kind: 'bars',
      bars: sums
        .filter((sum) => sum.currency === currency && sum.taxMinor > 0)
        .map((sum) => ({
          label: `${placeOf(sum)}, ${taxOf(sum)}`,
          value: sum.taxMinor,
          text: formatMoney(sum.taxMinor, currency)
        }))
    })),
    columns: [
      { name: 'Country' },
      { name: 'Tax' },
      { name: 'Net', isNumber: true },
      { name: 'Tax amount', isNumber: true },
      { name: 'Gross', isNumber: true }
    ],
    rows: [
      ...sums.map((sum) => ({ cells: [placeOf(sum), taxOf(sum), ...cellsOf(sum, sum.currency)] })),
      ...totals.map((total) => ({ cells: ['Total', '', ...cellsOf(total, total.currency)] }))
    ],
    notes: ['Invoices minus credit notes, by the day of issue.']
  }
}

function placeOf({ country, region }: TaxSum): string {
  return [country === '' ? 'not known' : countryName(country), region].filter((part) => part !== '').join(', ')
}

function taxOf({ reverseCharge, rateMillionths, name, ...rest }: TaxSum): string {
  if (reverseCharge) return 'reverse charge'
  return rateMillionths === 0 && name === '' ? 'no tax' : rateLabel({ ...rest, rateMillionths, name })
}

function cellsOf({ netMinor, taxMinor }: Amounts, currency: string): string[] {
  return [netMinor, taxMinor, netMinor + taxMinor].map((minor) => formatMoney(minor, currency))
}
