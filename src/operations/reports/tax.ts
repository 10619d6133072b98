import { z } from 'zod'
import { countryName } from '../../platform/postal/countries.ts'
import { taxSums } from '../../shop/invoices/tax-sums.ts'
import type { TaxSum } from '../../shop/invoices/tax-sums.ts'
import { isOwedByBuyer } from '../../shop/tax/categories.ts'
import { rateLabel } from '../../shop/tax/terms.ts'
import { shopDays } from './days.ts'
import { amount, chartsByCurrency, defineReport, money, netAndTax } from './report.ts'
import type { Column } from './report.ts'

const columns: readonly Column<TaxSum>[] = [
  { key: 'country', kind: 'text', title: 'Country', value: ({ country }) => country, text: placeOf },
  { key: 'region', kind: 'text', value: ({ region }) => region },
  { key: 'destination', kind: 'text', value: ({ destination }) => destination },
  { key: 'name', csv: 'tax', kind: 'text', title: 'Tax', value: ({ name }) => name, text: (sum) => rateLabel(sum) },
  { key: 'ratePercent', kind: 'percent', value: ({ rateMillionths }) => rateMillionths / 10_000 },
  { key: 'category', kind: 'text', value: ({ category }) => category },
  { key: 'reverseCharge', kind: 'yesNo', value: isOwedByBuyer },
  { key: 'currency', kind: 'text', value: ({ currency }) => currency },
  ...netAndTax('Tax amount'),
  { key: 'gross', ...money, title: 'Gross', value: amount(({ netMinor, taxMinor }) => netMinor + taxMinor) },
  { key: 'invoices', kind: 'count', value: ({ invoices }) => invoices },
  { key: 'creditNotes', kind: 'count', value: ({ creditNotes }) => creditNotes }
]

/** What the shop owes in tax for some days: its invoices minus its credit notes, by country and rate. */
export const taxReport = defineReport({
  name: 'tax',
  title: 'Tax',
  about: 'sum the invoices minus the credit notes of some days by country and tax rate',
  example: 'report tax --from 2026-01-01 --to 2026-03-31 --csv first-quarter.csv',
  period: shopDays,
  input: z.object({}),
  columns,
  totals: { label: 'Total', by: ({ currency }) => currency },
  read: ({ shop: { db }, period: days }) => {
    const rows = taxSums(db, days)
    const taxed = rows.filter(({ taxMinor }) => taxMinor > 0)
    return {
      rows,
      charts: chartsByCurrency({ title: 'Tax by country', kind: 'bars' }, taxed, (sum) => ({
        label: `${placeOf(sum)}, ${rateLabel(sum)}`,
        minor: sum.taxMinor
      })),
      notes: [
        rows.length === 0
          ? `No invoices from ${days.from} to ${days.to}.`
          : 'Invoices minus credit notes, by the day of issue.'
      ]
    }
  }
})

function placeOf({ category, country, region, destination }: TaxSum): string {
  const place = [country === '' ? 'not known' : countryName(country), region].filter((part) => part !== '').join(', ')
  return category === 'taxed' && destination !== country ? `${place}, for ${countryName(destination)}` : place
}
