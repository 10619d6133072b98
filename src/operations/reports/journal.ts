import { z } from 'zod'
import { journalOf } from '../../shop/invoices/journal.ts'
import type { JournalRow } from '../../shop/invoices/journal.ts'
import { isOwedByBuyer } from '../../shop/tax/categories.ts'
import { setting } from '../../shop/settings/settings.ts'
import { shopDays } from './days.ts'
import { amount, chartsByCurrency, defineReport } from './report.ts'
import type { Column } from './report.ts'

const money = { kind: 'money', total: 'sum' } as const

const columns: readonly Column<JournalRow>[] = [
  { key: 'number', kind: 'text', title: 'Document', value: ({ number }) => number },
  { key: 'kind', kind: 'text', value: ({ kind }) => kind },
  { key: 'date', kind: 'text', title: 'Date', value: ({ date }) => date },
  { key: 'paidOn', kind: 'text', value: ({ paidOn }) => paidOn },
  { key: 'orderId', csv: 'order', kind: 'count', title: 'Order', value: ({ orderId }) => orderId },
  { key: 'corrects', kind: 'text', value: ({ corrects }) => corrects },
  { key: 'customer', kind: 'text', title: 'Customer', isDetail: true, value: ({ customer }) => customer },
  { key: 'vatId', kind: 'text', value: ({ vatId }) => vatId },
  { key: 'country', kind: 'text', title: 'Country', value: ({ country }) => country },
  { key: 'region', kind: 'text', value: ({ region }) => region },
  { key: 'destination', kind: 'text', value: ({ destination }) => destination },
  { key: 'name', csv: 'tax', kind: 'text', value: ({ name }) => name },
  { key: 'ratePercent', kind: 'percent', title: 'Rate', value: ({ rateMillionths }) => rateMillionths / 10_000 },
  { key: 'category', kind: 'text', value: ({ category }) => category },
  { key: 'reverseCharge', kind: 'yesNo', value: isOwedByBuyer },
  { key: 'currency', kind: 'text', value: ({ currency }) => currency },
  { key: 'net', ...money, title: 'Net', isFigure: true, value: amount(({ netMinor }) => netMinor) },
  { key: 'tax', csv: 'tax_amount', ...money, title: 'Tax', isFigure: true, value: amount((row) => row.taxMinor) },
  { key: 'gross', ...money, title: 'Gross', value: amount(({ netMinor, taxMinor }) => netMinor + taxMinor) }
]

/** Every document of some days, a row for each tax rate, to enter into the books one by one. */
export const journalReport = defineReport({
  name: 'journal',
  title: 'Journal',
  about: 'each invoice and credit note of some days, a row for each tax rate',
  example: 'report journal --from 2026-01-01 --to 2026-03-31 --csv journal.csv',
  period: shopDays,
  input: z.object({}),
  columns,
  totals: { label: 'Total', by: ({ currency }) => currency },
  read: ({ shop: { db }, period: days }) => {
    const rows = journalOf(db, days)
    const timeZone = setting(db, 'shop.timeZone')
    const byMonth = Map.groupBy(rows, ({ date, currency }) => `${date.slice(0, 'YYYY-MM'.length)} ${currency}`)
    const months = [...byMonth.values()].flatMap((some) => {
      const [first] = some
      if (first === undefined) return []
      const grossMinor = some.reduce((sum, { netMinor, taxMinor }) => sum + netMinor + taxMinor, 0)
      return [{ month: first.date.slice(0, 'YYYY-MM'.length), currency: first.currency, grossMinor }]
    })
    return {
      subtitle: `${days.from} to ${days.to} (${timeZone})`,
      head: { ...days, timeZone },
      rows,
      charts: chartsByCurrency({ title: 'Gross by month', kind: 'columns' }, months, ({ month, grossMinor }) => ({
        label: month,
        minor: grossMinor
      })),
      notes: [
        rows.length === 0
          ? `No documents from ${days.from} to ${days.to}.`
          : 'The day is that of the document. The amounts of credit notes are negative. The sums are those of report tax.'
      ]
    }
  }
})
