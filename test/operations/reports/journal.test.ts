import { parse } from 'csv-parse/sync'
import { expect, it } from 'vitest'
import { journalReport } from '../../../src/operations/reports/journal.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { germanShop, noonOf, sell } from './german-shop.ts'
import { giveBack } from '../../shop/orders/support.ts'

const quarter = { quarter: '2026Q4' }

it('the journal names the supply, the payment and the account of each document and rate', async () => {
  const db = germanShop({ 'accounting.accounts': 'domestic-7=8301' })
  const mixed = [{ priceMinor: 11_900 }, { priceMinor: 1070, taxClass: 'reduced' }] as const
  const id = sell(db, { paidAt: noonOf('2026-10-05'), country: 'DE', lines: mixed })
  sell(db, {
    paidAt: noonOf('2026-10-06'),
    country: 'FR',
    gateway: 'manual',
    lines: [{ priceMinor: 12_000 }, { priceMinor: 2400, type: 'digital' }]
  })
  giveBack(db, id, { items: [{ line: 2, quantity: 1 }] }, noonOf('2026-11-01'))
  const { rows } = await journalReport.make({ db }, quarter, noonOf('2026-11-02'))
  const shown = rows.map(({ number, date, suppliedOn, gross, payment, paymentId, accountKeys, accounts }) => [
    number,
    date,
    suppliedOn,
    gross,
    payment,
    paymentId,
    accountKeys,
    accounts
  ])
  expect(shown).toEqual([
    ['2026-1', '2026-10-05', '2026-10-05', 119, 'stripe', `cs_${id}`, ['domestic-19'], ['8400']],
    ['2026-1', '2026-10-05', '2026-10-05', 10.7, 'stripe', `cs_${id}`, ['domestic-7'], ['8301']],
    [
      '2026-2',
      '2026-10-06',
      '2026-10-06',
      144,
      'manual',
      `cs_${id + 1}`,
      ['oss-goods', 'oss-services'],
      ['8320', '8331']
    ],
    ['CN2026-1', '2026-11-01', '2026-10-05', -10.7, 'stripe', `cs_${id}`, ['domestic-7'], ['8301']]
  ])
})

it('sales to businesses, abroad and of a small business have accounts of their own, and others none without a setting', async () => {
  const db = germanShop({ 'accounting.chart': 'skr04' })
  const lines = [{ priceMinor: 10_000 }, { priceMinor: 5000, type: 'digital' }] as const
  sell(db, { paidAt: noonOf('2026-10-05'), country: 'AT', vatId: 'ATU12345675', lines })
  sell(db, { paidAt: noonOf('2026-10-06'), country: 'US', lines })
  const accounts = async (): Promise<unknown[]> =>
    (await journalReport.make({ db }, quarter, noonOf('2026-11-02'))).rows.map((row) => row['accounts'])
  expect(await accounts()).toEqual([['4125'], ['4336'], ['4120'], ['4338']])
  setSetting(db, 'accounting.chart', 'own', 0)
  expect(await accounts()).toEqual([[], [], [], []])
  setSetting(db, 'accounting.accounts', 'sales=200', 0)
  setSetting(db, 'tax.smallBusiness', 'true', 0)
  sell(db, { paidAt: noonOf('2026-10-07'), country: 'DE', lines })
  expect(await accounts()).toEqual([['200'], ['200'], ['200'], ['200'], ['200']])
})

it('names with quotes, separators and formulas are one cell each of the file', async () => {
  const db = germanShop()
  for (const name of ['Jörg "Jo" Groß; & Söhne,', '=HYPERLINK("x")'])
    sell(db, { paidAt: noonOf('2026-10-05'), country: 'DE', name, lines: [{ priceMinor: 100 }] })
  const made = await journalReport.make({ db }, quarter, noonOf('2026-11-02'))
  const rows: Record<string, string>[] = parse(Buffer.from(made.file('csv')), { columns: true, bom: true })
  expect(rows.map((row) => row['customer'])).toEqual(['Jörg "Jo" Groß; & Söhne, Quill', `'=HYPERLINK("x") Quill`])
})

it('a quarter stands for its days, and the message about another text names --quarter', async () => {
  const db = germanShop()
  const make = (given: Record<string, string>) => journalReport.make({ db }, given, noonOf('2026-11-02'))
  expect((await make({ quarter: '2026Q1' })).head).toMatchObject({ from: '2026-01-01', to: '2026-03-31' })
  expect((await make({ quarter: '0050Q4' })).head).toMatchObject({ from: '0050-10-01', to: '0050-12-31' })
  for (const text of ['2026Q5', '2026-Q4', 'Q4', ''])
    await expect(make({ quarter: text })).rejects.toThrow('--quarter takes a quarter from Q1 to Q4, such as 2026Q4.')
  await expect(make({ quarter: '2026Q4', from: '2026-10-01' })).rejects.toThrow('--quarter stands for --from and --to.')
  const empty = await make({ quarter: '2019Q1' })
  expect([empty.rows, empty.totals]).toEqual([[], []])
})
