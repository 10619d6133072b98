import { parse } from 'csv-parse/sync'
import { expect, it } from 'vitest'
import { journalReport } from '../../../src/operations/reports/journal.ts'
import { journalOf } from '../../../src/shop/invoices/journal.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { germanShop, noonOf, sell } from './german-shop.ts'
import { giveBack } from '../../shop/orders/support.ts'
import type { TestDb } from '../../support/temporary-shop.ts'

const later = noonOf('2027-02-01')
const journal = (db: TestDb, quarter = '2026Q4') => journalReport.make({ db }, { quarter }, later)
const mixed = [
  { priceMinor: 11_900 },
  { priceMinor: 1070, taxClass: 'reduced' },
  { priceMinor: 5950, type: 'digital' }
] as const

/** A shop whose fourth quarter has a sale of each kind, and two refunds. */
function soldShop(settings: Parameters<typeof germanShop>[0] = {}): TestDb {
  const db = germanShop({ 'invoice.prefix': 'TL.', ...settings })
  const at = (day: number): number => noonOf(`2026-10-${String(day).padStart(2, '0')}`)
  const first = sell(db, { paidAt: at(1), country: 'DE', name: 'Jörg "Jo"; Groß €', lines: mixed, shippingMinor: 490 })
  sell(db, { paidAt: at(2), country: 'FR', name: 'Łucja Čapek 李', lines: mixed, shippingMinor: 490 })
  sell(db, { paidAt: at(3), country: 'AT', vatId: 'ATU12345675', lines: mixed, gateway: 'manual' })
  sell(db, { paidAt: at(4), country: 'US', name: 'A'.repeat(90), lines: mixed })
  giveBack(db, first, { items: [{ line: 2, quantity: 1 }] }, at(20))
  giveBack(db, first, {}, at(21))
  return db
}

/** The rows of a batch by the names of the columns. */
function postingsIn(bytes: Uint8Array): {
  head: string[]
  names: string[]
  rows: Record<string, string>[]
  text: string
} {
  const text = new TextDecoder('windows-1252').decode(bytes)
  const [head = [], names = [], ...rows]: string[][] = parse(text, { delimiter: ';', relaxColumnCount: true })
  return {
    head,
    names,
    text,
    rows: rows.map((cells) => Object.fromEntries(cells.map((cell, at) => [names[at], cell])))
  }
}

const minorOf = (decimals = ''): number => Number(decimals.replace(',', ''))

it('a batch for DATEV has the form of its description, and its postings are the amounts of the journal', async () => {
  const db = soldShop({ 'accounting.consultant': '29098', 'accounting.client': '55003' })
  const made = await journal(db)
  const { head, names, rows, text } = postingsIn(made.file('datev'))
  expect(text.split('\r\n')[0]).toBe(
    '"EXTF";700;21;"Buchungsstapel";13;20261231000000000;;"RE";"Shopstead";"";29098;55003;20260101;4;20261001;20261231;"Journal 2026-10-01";"";1;0;0;"EUR";;"";;;"03";;;"";""'
  )
  expect(head).toHaveLength(31)
  expect(names).toHaveLength(125)
  expect([names[0], names[39], names[47], names[87], names[113], names[124]]).toEqual([
    'Umsatz (ohne Soll/Haben-Kz)',
    'EU-Land u. UStID (Bestimmung)',
    'Zusatzinformation - Art 1',
    'Stück',
    'Festschreibung',
    'Abw. Skontokonto'
  ])
  expect(
    text
      .split('\r\n')
      .slice(2, -1)
      .every((row) => row.split(';').length >= 125)
  ).toBe(true)
  expect(text).not.toMatch(/[^\r]\n/)
  const sums = new Map<string, number>()
  for (const row of rows) {
    const number = row['Belegfeld 1'] ?? ''
    const sign = row['Soll/Haben-Kennzeichen'] === 'S' ? 1 : -1
    sums.set(number, (sums.get(number) ?? 0) + sign * minorOf(row['Umsatz (ohne Soll/Haben-Kz)']))
  }
  const expected = new Map<string, number>()
  for (const { number, netMinor, taxMinor } of journalOf(db, { from: '2026-10-01', to: '2026-12-31' })) {
    const field = number.replaceAll('.', '-')
    expected.set(field, (expected.get(field) ?? 0) + netMinor + taxMinor)
  }
  expect(sums).toEqual(expected)
  expect(expected.size).toBe(6)
  const bySale = (account: string) => rows.filter((row) => row['Gegenkonto (ohne BU-Schlüssel)'] === account)
  expect(bySale('8400')[0]).toMatchObject({
    Konto: '10000',
    Belegdatum: '0110',
    'Belegfeld 1': 'TL-2026-1',
    Buchungstext: 'Jörg "Jo"; Groß € Quill',
    'BU-Schlüssel': ''
  })
  expect(bySale('8320')[0]).toMatchObject({
    'BU-Schlüssel': '240',
    'EU-Land u. UStID (Bestimmung)': 'FR',
    'EU-Steuersatz (Bestimmung)': '20,00',
    'EU-Land u. UStID (Ursprung)': 'DE136695976',
    Buchungstext: '?ucja Capek ? Quill'
  })
  expect(bySale('8320')[1]).toMatchObject({ 'EU-Steuersatz (Bestimmung)': '05,50' })
  expect(bySale('8125')[0]).toMatchObject({ 'EU-Land u. UStID (Bestimmung)': 'ATU12345675' })
  expect(bySale('8338')[0]?.['Buchungstext']).toHaveLength(60)
  expect(rows.every((row) => minorOf(row['Umsatz (ohne Soll/Haben-Kz)']) > 0)).toBe(true)
})

it('a batch for DATEV names what it lacks, and takes one fiscal year in euros', async () => {
  const db = soldShop({ 'accounting.chart': 'own' })
  const fileOf = async (quarter?: string) => (await journal(db, quarter)).file('datev')
  await expect(fileOf()).rejects.toThrow(
    'There is no account for domestic-19, domestic-7, export, oss-goods, oss-services, outside, payment-manual, payment-stripe, reverse-charge, supply. Set accounting.chart, or accounting.accounts with domestic-19=… for each.'
  )
  setSetting(db, 'accounting.chart', 'skr04', 0)
  expect(postingsIn(await fileOf()).rows[0]).toMatchObject({ 'Gegenkonto (ohne BU-Schlüssel)': '4400' })
  setSetting(db, 'accounting.accounts', 'supply=41250', 0)
  await expect(fileOf()).rejects.toThrow('need 4 to 8 digits for DATEV, all of them the same number')
  setSetting(db, 'accounting.accounts', '', 0)
  const empty = postingsIn(await fileOf('2020Q1'))
  expect([empty.head[12], empty.rows]).toEqual(['20200101', []])
  setSetting(db, 'accounting.yearStart', '11-01', 0)
  await expect(fileOf()).rejects.toThrow('A batch for DATEV is of one fiscal year, and one ends on 2026-10-31')
  expect(postingsIn(await fileOf('2026Q3')).head[12]).toBe('20251101')
})

it('Xero gets each document by account, with credit notes as negative amounts', async () => {
  const db = soldShop()
  setSetting(db, 'accounting.accounts', 'sales=200', 0)
  setSetting(db, 'accounting.chart', 'own', 0)
  await expect(async () => (await journal(db)).file('xero')).rejects.toThrow('There is no tax name for domestic-19')
  setSetting(db, 'accounting.taxCodes', 'sales=Tax Exempt, domestic-19=19% (VAT on Income)', 0)
  const made = await journal(db)
  const rows: Record<string, string>[] = parse(Buffer.from(made.file('xero')), { columns: true })
  expect(rows[0]).toMatchObject({
    '*ContactName': 'Jörg "Jo"; Groß € Quill',
    POCity: 'Town',
    POCountry: 'Germany',
    '*InvoiceNumber': 'TL.2026-1',
    '*InvoiceDate': '01/10/2026',
    '*AccountCode': '200',
    '*TaxType': '19% (VAT on Income)',
    Currency: 'EUR'
  })
  const cents = (text = ''): number => Math.round(Number(text) * 100)
  const sum = rows.reduce((all, row) => all + cents(row['*UnitAmount']) + cents(row['TaxAmount']), 0)
  expect(sum).toBe(Math.round(Number(made.totals?.[0]?.['gross']) * 100))
  expect(
    rows.filter((row) => row['*InvoiceNumber']?.startsWith('TL.CN')).every((row) => cents(row['*UnitAmount']) < 0)
  ).toBe(true)
})

it('QuickBooks gets invoices and credit notes in a file each, which together are the journal', async () => {
  const db = soldShop({ 'accounting.taxCodes': 'sales=20.0% S' })
  const made = await journal(db)
  const sumOf = (format: string): number => {
    const rows: Record<string, string>[] = parse(Buffer.from(made.file(format)), { columns: true })
    expect(rows.length).toBeGreaterThan(0)
    return rows.reduce(
      (sum, row) => sum + Math.round((Number(row['*ItemAmount']) + Number(row['ItemTaxAmount'])) * 100),
      0
    )
  }
  const [invoices, credits] = [sumOf('quickbooks'), sumOf('quickbooks-credits')]
  expect(credits).toBeGreaterThan(0)
  expect(invoices - credits).toBe(Math.round(Number(made.totals?.[0]?.['gross']) * 100))
})
