import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { documentLines } from '../../../src/operations/reports/document-lines.ts'
import { ecSalesReport } from '../../../src/operations/reports/ec-sales.ts'
import { journalReport } from '../../../src/operations/reports/journal.ts'
import { ossReport } from '../../../src/operations/reports/oss.ts'
import { salesReport } from '../../../src/operations/reports/sales.ts'
import { taxReport } from '../../../src/operations/reports/tax.ts'
import type { MadeReport } from '../../../src/operations/reports/report.ts'
import { listDocuments } from '../../../src/shop/invoices/find.ts'
import type { InvoiceRow } from '../../../src/shop/invoices/find.ts'
import { germanShop, sell } from './german-shop.ts'
import { giveBack } from '../../shop/orders/support.ts'
import type { TestDb } from '../../support/temporary-shop.ts'

const hourMs = 3_600_000
const quarters = ['2026Q1', '2026Q2', '2026Q3', '2026Q4', '2027Q1'] as const
const later = Date.parse('2027-06-01T00:00:00Z')

/** The instants around midnight of the first days of months and of the days on which clocks change, in the zone. */
function instantsOf(timeZone: string): number[] {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  const dayOf = (at: number): string => clock.format(at).slice(0, 10)
  const hours = Array.from({ length: 367 * 24 }, (_, hour) => Date.parse('2025-12-31T00:00:00Z') + hour * hourMs)
  const offsetOf = (at: number): number => Date.parse(`${clock.format(at).replace(' ', 'T')}Z`) - at
  return hours.filter((at) => {
    const isChange = offsetOf(at) !== offsetOf(at - hourMs)
    const isQuarter = /-(?:01|04|07|10)-01$/.test(dayOf(at)) && dayOf(at - hourMs) !== dayOf(at)
    return isChange || isQuarter
  })
}

/** A year of sales, two at each of these instants, and refunds of a part of them up to 100 days later. */
function yearOf(timeZone: string): TestDb {
  const db = germanShop({ 'shop.timeZone': timeZone })
  const events: { at: number; run: () => void }[] = []
  const ids = new Map<number, number>()
  const buyers = [{ country: 'FR' }, { country: 'AT', vatId: 'ATU12345675' }, { country: 'DE' }] as const
  for (const [index, at] of instantsOf(timeZone)
    .flatMap((each) => [each - 1, each, each + 5 * hourMs])
    .entries()) {
    const buyer = buyers[index % buyers.length] ?? buyers[0]
    const lines = [{ priceMinor: 1000 + index }, { priceMinor: 799, type: 'digital' as const }]
    events.push({ at, run: () => void ids.set(index, sell(db, { paidAt: at, ...buyer, lines })) })
    const backAt = at + (index % 4) * 33 * 24 * hourMs
    if (index % 3 === 0)
      events.push({ at: backAt, run: () => giveBack(db, ids.get(index) ?? 0, { amountMinor: 300 }, backAt) })
  }
  for (const { run } of events.toSorted((a, b) => a.at - b.at)) run()
  return db
}

type Tax = InvoiceRow['document']['taxes'][number]
type Signed = { document: InvoiceRow; tax: Tax; sign: bigint }

/** The quarter of a day, without the shop's calendar. */
const quarterOf = (day: string): string => `${day.slice(0, 4)}Q${Math.floor((Number(day.slice(5, 7)) + 2) / 3)}`

describe.each(['Europe/Berlin', 'America/Los_Angeles', 'Pacific/Auckland', 'Pacific/Kiritimati'])(
  'a year in %s',
  (timeZone) => {
    it('has the same sums in every report, by day of issue and quarter of supply, as its documents', async () => {
      const db = yearOf(timeZone)
      const documents = [...listDocuments(db, {})]
      const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
      for (const { date, issuedAt } of documents) expect(date).toBe(clock.format(issuedAt))
      const all = documents.flatMap((document): Signed[] =>
        document.document.taxes.map((tax) => ({ document, tax, sign: document.kind === 'invoice' ? 1n : -1n }))
      )
      let seen = 0
      for (const quarter of quarters) {
        const own = all.filter(({ document }) => quarterOf(document.date) === quarter)
        seen += own.length
        const net = (some: readonly Signed[]): bigint =>
          some.reduce((sum, { tax, sign }) => sum + sign * BigInt(tax.baseMinor), 0n)
        const due = (some: readonly Signed[]): bigint =>
          some.reduce((sum, { tax, sign }) => sum + sign * BigInt(tax.amountMinor), 0n)
        const made = async (report: typeof journalReport): Promise<MadeReport> =>
          report.make({ db }, { quarter }, later)
        const sum = ({ rows }: Pick<MadeReport, 'rows'>, name: string): bigint =>
          rows.reduce((total, row) => total + BigInt(Math.round(Number(row[name]) * 100)), 0n)
        for (const report of [journalReport, taxReport, documentLines]) {
          const found = await made(report)
          expect([sum(found, 'net'), sum(found, 'tax')]).toEqual([net(own), due(own)])
        }
        const sales = await made(salesReport)
        expect(sum(sales, 'net')).toBe(net(own) + due(own))
        const oss = await made(ossReport)
        const abroad = own.filter(({ tax }) => tax.category === 'taxed' && tax.country !== 'DE')
        const corrections = abroad.filter(({ document }) => quarterOf(document.document.suppliedOn) < quarter)
        const isCorrection = (row: MadeReport['rows'][number]): boolean => row['correction'] === true
        expect(sum({ rows: oss.rows.filter(isCorrection) }, 'tax')).toBe(due(corrections))
        expect(sum(oss, 'tax')).toBe(due(abroad))
        const owed = own.filter(({ tax }) => tax.category === 'supply' || tax.category === 'reverse_charge')
        expect(sum(await made(ecSalesReport), 'net')).toBe(net(owed))
        const batch = new TextDecoder('windows-1252').decode((await made(journalReport)).file('datev'))
        const [, , ...rows]: string[][] = parse(batch, { delimiter: ';', relaxColumnCount: true })
        const posted = rows.reduce(
          (total, [amount = '', side]) => total + (side === 'S' ? 1n : -1n) * BigInt(amount.replace(',', '')),
          0n
        )
        expect(posted).toBe(net(own) + due(own))
      }
      // The first instants are in the year before.
      expect(all.length - seen).toBe(all.filter(({ document }) => document.date < '2026').length)
    })
  }
)
