import { z } from 'zod'
import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { toDecimalText } from '../../platform/money.ts'
import { countryName } from '../../platform/postal/countries.ts'
import { isStandardRate, vatCode } from '../../platform/vat.ts'
import { taxEntries } from '../../shop/invoices/tax-sums.ts'
import type { TaxEntry } from '../../shop/invoices/tax-sums.ts'
import { setting } from '../../shop/settings/settings.ts'
import { isOneStopShop } from './accounts.ts'
import { addDays } from '../../platform/days.ts'
import { daysOfQuarter, quarterOf, quarters } from './days.ts'
import type { Days } from './days.ts'
import { assertForGermany, assertInEu } from './eu-returns.ts'
import type { Supply } from './eu-returns.ts'
import { amount, chartsByCurrency, defineReport, netAndTax } from './report.ts'
import type { Column } from './report.ts'

/** What a quarter says about one country, rate and supply: the sales of the quarter, or corrections of an earlier one. */
type OssRow = {
  /** The quarter of the supplies. */
  period: string
  isCorrection: boolean
  country: string
  supply: Supply
  rateMillionths: number
  currency: string
  netMinor: number
  taxMinor: number
  /** Of a correction: the tax of the country in that quarter as declared before, and with all corrections of this one. */
  declaredMinor: number | null
  correctedMinor: number | null
}

const columns: readonly Column<OssRow>[] = [
  { key: 'period', kind: 'text', title: 'Quarter', value: ({ period }) => period },
  { key: 'correction', kind: 'yesNo', title: 'Correction', value: ({ isCorrection }) => isCorrection },
  { key: 'country', kind: 'text', title: 'Country', value: ({ country }) => country, text: nameOf },
  { key: 'supply', kind: 'text', title: 'Supply', value: ({ supply }) => supply },
  { key: 'ratePercent', kind: 'percent', title: 'Rate', value: percentOf },
  { key: 'rateType', kind: 'text', value: (row) => (isStandard(row) ? 'standard' : 'reduced') },
  { key: 'currency', kind: 'text', value: ({ currency }) => currency },
  ...netAndTax('Tax amount'),
  { key: 'declaredTax', kind: 'money', value: amount(({ declaredMinor }) => declaredMinor) },
  { key: 'correctedTax', kind: 'money', value: amount(({ correctedMinor }) => correctedMinor) }
]

/**
 * What a shop in the EU declares in the One-Stop-Shop for a quarter (Directive 2006/112/EC, article 369g): the sales to
 * consumers in other member states by country where tax is owed, rate, and goods or services. A document counts in the
 * quarter of its day. If its supply was in an earlier quarter, as for the credit note of a later return, it corrects that.
 */
export const ossReport = defineReport({
  name: 'oss',
  title: 'One-Stop-Shop',
  about: 'sales to consumers in other member states of the EU by country and rate, and corrections of earlier quarters',
  example: 'report oss --quarter 2026Q4 --format bzst --csv oss-2026q4.csv',
  period: quarters,
  input: z.object({}),
  columns,
  totals: { label: 'Total', by: ({ currency }) => currency },
  formats: [
    {
      name: 'bzst',
      about: 'the file of the BZSt, for shops in Germany',
      write: ({ shop: { db }, rows }) => bzstFile(db, rows)
    }
  ],
  read: ({ shop: { db }, period: quarter }) => {
    assertInEu(db, 'The One-Stop-Shop is')
    const rows = readSnapshot(db, () => ossRows(db, quarter))
    const isOwn = setting(db, 'tax.crossBorder') === 'own'
    return {
      rows,
      charts: chartsByCurrency({ title: 'Tax by country', kind: 'bars' }, rows, (row) => ({
        label: `${nameOf(row)}, ${percentOf(row)} %`,
        minor: row.taxMinor
      })),
      notes: [
        rows.length === 0
          ? `Nothing to declare for ${quarter}.`
          : 'By the day of the document. A correction is of the quarter in which the tax arose.',
        ...(isOwn ? ['tax.crossBorder is own: consumers in the EU pay your own rates, which you declare at home.'] : [])
      ]
    }
  }
})

function nameOf({ country }: OssRow): string {
  return countryName(country)
}

function percentOf({ rateMillionths }: Pick<OssRow, 'rateMillionths'>): number {
  return rateMillionths / 10_000
}

function isStandard(row: Pick<OssRow, 'country' | 'rateMillionths'>): boolean {
  return isStandardRate(row.country, percentOf(row))
}

/** The taxes of the documents of some days that are declared in the One-Stop-Shop. */
function ossEntries(db: Db, days: Days): IteratorObject<TaxEntry, undefined> {
  return taxEntries(db, days).filter(({ tax, sellerCountry }) => isOneStopShop(tax, sellerCountry))
}

function ossRows(db: Db, quarter: string): OssRow[] {
  const days = daysOfQuarter(quarter)
  const sums = new Map<string, OssRow>()
  for (const entry of ossEntries(db, days)) {
    const { serviceBaseMinor, serviceAmountMinor, baseMinor, amountMinor } = entry.tax
    add(sums, quarter, entry, {
      supply: 'goods',
      netMinor: baseMinor - serviceBaseMinor,
      taxMinor: amountMinor - serviceAmountMinor
    })
    add(sums, quarter, entry, { supply: 'services', netMinor: serviceBaseMinor, taxMinor: serviceAmountMinor })
  }
  const rows = [...sums.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row)
    .filter(({ netMinor, taxMinor }) => netMinor !== 0 || taxMinor !== 0)
  return withDeclared(db, days, rows)
}

function add(
  sums: Map<string, OssRow>,
  quarter: string,
  { currency, suppliedOn, sign, tax }: TaxEntry,
  part: Pick<OssRow, 'supply' | 'netMinor' | 'taxMinor'>
): void {
  const { country, rateMillionths } = tax
  const supplied = quarterOf(suppliedOn)
  const isCorrection = supplied < quarter
  const period = isCorrection ? supplied : quarter
  // Sales come before corrections, and the highest rate of a country first.
  const key = [isCorrection, period, currency, country, part.supply, 9_999_999 - rateMillionths].join('\n')
  const none = { period, isCorrection, country, supply: part.supply, rateMillionths, currency }
  const sum = sums.get(key) ?? { ...none, netMinor: 0, taxMinor: 0, declaredMinor: null, correctedMinor: null }
  sum.netMinor += sign * part.netMinor
  sum.taxMinor += sign * part.taxMinor
  sums.set(key, sum)
}

/** The rows, where corrections say what was declared for their country and quarter before the days of this one. */
function withDeclared(db: Db, days: Days, rows: readonly OssRow[]): OssRow[] {
  const keyOf = ({ period, country, currency }: Pick<OssRow, 'period' | 'country' | 'currency'>): string =>
    [period, country, currency].join('\n')
  const corrected = rows.filter(({ isCorrection }) => isCorrection)
  const [first] = corrected.map(({ period }) => period).toSorted()
  if (first === undefined) return [...rows]
  const declared = new Map<string, number>()
  const before = { from: daysOfQuarter(first).from, to: addDays(days.from, -1) }
  for (const { tax, currency, suppliedOn, sign } of ossEntries(db, before)) {
    const key = keyOf({ period: quarterOf(suppliedOn), country: tax.country, currency })
    declared.set(key, (declared.get(key) ?? 0) + sign * tax.amountMinor)
  }
  const changes = Map.groupBy(corrected, keyOf)
  return rows.map((row) => {
    if (!row.isCorrection) return row
    const declaredMinor = declared.get(keyOf(row)) ?? 0
    const changeMinor = (changes.get(keyOf(row)) ?? []).reduce((sum, { taxMinor }) => sum + taxMinor, 0)
    return { ...row, declaredMinor, correctedMinor: declaredMinor + changeMinor }
  })
}

/**
 * The version of the upload file that the portal takes. It refuses an older one. Versions and record types:
 * elster.de/bportal/helpGlobal?themaGlobal=osseust_import (1.1 brought record type 6, 2.0 UTF-8 and no zero values).
 */
const bzstVersion = '#v2.0'

/**
 * The upload file of the Bundeszentralamt für Steuern. Its records: 1 names each country; 2 are services and 3 goods
 * shipped from Germany (country, kind of rate, rate, net, tax); 6 corrects a quarter (country, year, quarter, the tax that
 * was declared, the tax that is right).
 *
 * @throws AppError CONFLICT for a shop outside Germany and for other currencies
 */
function bzstFile(db: Db, rows: readonly OssRow[]): string {
  assertForGermany(db, 'the BZSt', rows)
  const decimals = (minor: number): string => toDecimalText(minor, 'EUR')
  const countries = [...new Set(rows.map(({ country }) => country))].toSorted()
  const sales = (['services', 'goods'] as const).flatMap((supply) =>
    rows
      .filter((row) => !row.isCorrection && row.supply === supply && row.taxMinor !== 0)
      .map((row) => [
        supply === 'services' ? 2 : 3,
        vatCode(row.country),
        isStandard(row) ? 'STANDARD' : 'REDUCED',
        percentOf(row).toFixed(2),
        decimals(row.netMinor),
        decimals(row.taxMinor)
      ])
  )
  // The rows of a country and quarter have the same two sums.
  const corrected = new Map(
    rows
      .filter(({ isCorrection, declaredMinor, correctedMinor }) => isCorrection && declaredMinor !== correctedMinor)
      .map((row) => [`${row.country} ${row.period}`, row])
  )
  const corrections = [...corrected.values()].map(({ country, period, declaredMinor, correctedMinor }) => [
    6,
    vatCode(country),
    period.slice(0, 4),
    period.slice(5),
    decimals(declaredMinor ?? 0),
    decimals(correctedMinor ?? 0)
  ])
  const records = [...countries.map((country) => [1, vatCode(country)]), ...sales, ...corrections]
  return [bzstVersion, ...records.map((record) => record.join(','))].map((text) => `${text}\r\n`).join('')
}
