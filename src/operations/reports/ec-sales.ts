import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { readVatId } from '../../platform/vat.ts'
import { journalOf } from '../../shop/invoices/journal.ts'
import type { JournalRow } from '../../shop/invoices/journal.ts'
import { isOwedByBuyer } from '../../shop/tax/categories.ts'
import type { Db } from '../../platform/db/database.ts'
import { taxDays } from './days.ts'
import { assertForGermany, assertInEu } from './eu-returns.ts'
import type { Supply } from './eu-returns.ts'
import { amount, chartsByCurrency, defineReport, money } from './report.ts'
import type { Column } from './report.ts'

/** What a business in another member state bought without tax in some days. */
type EcSale = {
  /** Null once the buyer is erased. */
  vatId: string | null
  customer: string | null
  supply: Supply
  currency: string
  netMinor: number
}

const columns: readonly Column<EcSale>[] = [
  { key: 'vatId', kind: 'text', title: 'VAT id', value: ({ vatId }) => vatId },
  { key: 'customer', kind: 'text', title: 'Customer', isDetail: true, value: ({ customer }) => customer },
  { key: 'supply', kind: 'text', title: 'Supply', value: ({ supply }) => supply },
  { key: 'currency', kind: 'text', value: ({ currency }) => currency },
  { key: 'net', ...money, title: 'Net', isFigure: true, value: amount(({ netMinor }) => netMinor) },
  { key: 'wholeEuros', kind: 'count', title: 'Whole euros', value: wholeEuros }
]

/**
 * The sales to businesses in other member states of the EU that owe the tax themselves (Directive 2006/112/EC, article 262;
 * § 18a UStG): goods and services by VAT id. A credit note lowers the sums of the days in which it was issued, as § 18a
 * (7) says.
 */
export const ecSalesReport = defineReport({
  name: 'ec-sales',
  title: 'EC sales list',
  about: 'sales to businesses in other member states of the EU by VAT id (Zusammenfassende Meldung)',
  example: 'report ec-sales --quarter 2026Q4 --format elster --csv zm-2026q4.csv',
  period: taxDays,
  input: z.object({}),
  columns,
  totals: { label: 'Total', by: ({ currency }) => currency },
  formats: [
    {
      name: 'elster',
      about: 'the list of the Zusammenfassende Meldung, for shops in Germany',
      write: ({ shop: { db }, rows }) => elsterFile(db, rows)
    }
  ],
  read: ({ shop: { db }, period: days }) => {
    assertInEu(db, 'The EC sales list is')
    const rows = ecSales(journalOf(db, days))
    return {
      rows,
      charts: chartsByCurrency({ title: 'Net by VAT id', kind: 'bars', most: 20 }, rows, (row) => ({
        label: row.vatId ?? 'erased',
        minor: row.netMinor
      })),
      notes: [
        rows.length === 0
          ? `No such sales from ${days.from} to ${days.to}.`
          : 'By the day of the document. Returns lower the sums of the days of their credit notes.'
      ]
    }
  }
})

function ecSales(rows: readonly JournalRow[]): EcSale[] {
  const sums = new Map<string, EcSale>()
  for (const { category, vatId: typed, customer, currency, netMinor } of rows.filter(isOwedByBuyer)) {
    const vatId = typed === null ? null : (readVatId(typed)?.id ?? typed)
    const supply = category === 'supply' ? 'goods' : 'services'
    const key = [vatId, supply, currency].join('\n')
    const sum = sums.get(key) ?? { vatId, customer, supply, currency, netMinor: 0 }
    sums.set(key, { ...sum, netMinor: sum.netMinor + netMinor })
  }
  return [...sums.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, sale]) => sale)
    .filter(({ netMinor }) => netMinor !== 0)
}

/** The list is in whole euros; half a euro is rounded away from zero. Null for another currency. */
function wholeEuros({ netMinor, currency }: EcSale): number | null {
  if (currency !== 'EUR') return null
  const whole = Math.floor((Math.abs(netMinor) + 50) / 100)
  return netMinor < 0 && whole > 0 ? -whole : whole
}

/** Goods and services of the list. The third, D, is for the intermediary of a triangular sale, which a shop never is. */
const kinds: Readonly<Record<Supply, 'L' | 'S'>> = { goods: 'L', services: 'S' }

/**
 * The import file of ELSTER's form, version 3.0: VAT id with its country, whole euros, kind of supply
 * (elster.de/eportal/helpGlobal?themaGlobal=zmdo_import_eop).
 *
 * @throws AppError CONFLICT for a shop outside Germany, other currencies, and sales without a VAT id
 */
function elsterFile(db: Db, rows: readonly EcSale[]): string {
  assertForGermany(db, 'ELSTER', rows)
  if (rows.some(({ vatId }) => vatId === null))
    throw new AppError('CONFLICT', 'The VAT id of a buyer is erased from these documents. Use --csv alone.')
  const head = 'Umsatzsteuer-Identifikationsnummer (USt-IdNr.),Summe (Euro),Art der Leistung'
  const lines = rows
    .filter((row) => wholeEuros(row) !== 0)
    .map((row) => [row.vatId, wholeEuros(row), kinds[row.supply]].join(','))
  return ['#v3.0', head, ...lines].map((text) => `${text}\r\n`).join('')
}
