import { expect, it } from 'vitest'
import { ecSalesReport } from '../../../src/operations/reports/ec-sales.ts'
import { ossReport } from '../../../src/operations/reports/oss.ts'
import type { MadeReport } from '../../../src/operations/reports/report.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { germanShop, noonOf, sell } from './german-shop.ts'
import { giveBack } from '../../shop/orders/support.ts'

const later = noonOf('2027-04-02')
const linesOf = (made: MadeReport, format: string): string[] =>
  new TextDecoder().decode(made.file(format)).split('\r\n').slice(0, -1)

it('the One-Stop-Shop has a row for each country, rate and supply, and corrections by the quarter of the sale', async () => {
  const db = germanShop()
  const oss = (quarter: string) => ossReport.make({ db }, { quarter }, later)
  const mixed = [
    { priceMinor: 12_000 },
    { priceMinor: 2110, taxClass: 'reduced' },
    { priceMinor: 6000, type: 'digital' }
  ] as const
  const first = sell(db, { paidAt: noonOf('2026-11-02'), country: 'FR', lines: mixed })
  const second = sell(db, { paidAt: noonOf('2026-11-03'), country: 'GR', lines: [{ priceMinor: 12_400 }] })
  sell(db, { paidAt: noonOf('2026-11-04'), country: 'DE', lines: mixed })
  sell(db, { paidAt: noonOf('2026-11-05'), country: 'AT', vatId: 'ATU12345675', lines: mixed })
  sell(db, { paidAt: noonOf('2026-11-05'), country: 'US', lines: mixed })
  giveBack(db, second, { amountMinor: 6200 }, noonOf('2026-12-31'))
  const fourth = ['#v2.0', '1,FR', '1,EL', '2,FR,STANDARD,20.00,50.00,10.00']
  const goods = ['3,FR,STANDARD,20.00,100.00,20.00', '3,FR,REDUCED,5.50,20.00,1.10', '3,EL,STANDARD,24.00,50.00,12.00']
  expect(linesOf(await oss('2026Q4'), 'bzst')).toEqual([...fourth, ...goods])

  giveBack(db, first, { items: [{ line: 1, quantity: 1 }] }, noonOf('2027-01-10'))
  sell(db, { paidAt: noonOf('2027-02-01'), country: 'FR', lines: [{ priceMinor: 1200 }] })
  giveBack(db, first, { items: [{ line: 2, quantity: 1 }] }, noonOf('2027-04-01'))
  const { rows } = await oss('2027Q1')
  expect(rows).toMatchObject([
    { period: '2027Q1', correction: false, country: 'FR', supply: 'goods', ratePercent: 20, net: 10, tax: 2 },
    { period: '2026Q4', correction: true, country: 'FR', supply: 'goods', ratePercent: 20, net: -100, tax: -20 }
  ])
  const firstOf2027 = ['#v2.0', '1,FR', '3,FR,STANDARD,20.00,10.00,2.00', '6,FR,2026,4,31.10,11.10']
  expect(linesOf(await oss('2027Q1'), 'bzst')).toEqual(firstOf2027)
  // What a later quarter corrects begins with what the earlier ones have corrected.
  expect(linesOf(await oss('2027Q2'), 'bzst')).toEqual(['#v2.0', '1,FR', '6,FR,2026,4,11.10,10.00'])
  // A closed quarter stays as it was.
  expect(linesOf(await oss('2026Q4'), 'bzst')).toEqual([...fourth, ...goods])
  expect(linesOf(await oss('2026Q1'), 'bzst')).toEqual(['#v2.0'])
  expect((await oss('2026Q1')).page.notes).toEqual(['Nothing to declare for 2026Q1.'])
})

it('a quarter ends at midnight of the shop', async () => {
  const db = germanShop()
  const lines = [{ priceMinor: 12_000 }]
  sell(db, { paidAt: Date.parse('2026-12-31T22:59:59Z'), country: 'FR', lines })
  sell(db, { paidAt: Date.parse('2026-12-31T23:00:00Z'), country: 'AT', lines })
  const countries = async (quarter: string) =>
    (await ossReport.make({ db }, { quarter }, later)).rows.map((row) => row['country'])
  expect(await countries('2026Q4')).toEqual(['FR'])
  expect(await countries('2027Q1')).toEqual(['AT'])
  const { head } = await ossReport.make({ db }, {}, Date.parse('2026-12-31T23:00:00Z'))
  expect(head).toMatchObject({ quarter: '2026Q4', from: '2026-10-01', to: '2026-12-31' })
})

it('the EC sales list sums goods and services by VAT id, exact and in whole euros, and nets returns', async () => {
  const db = germanShop()
  // A business pays without the tax.
  const lines = [{ priceMinor: 10_000 }, { priceMinor: 5000, type: 'digital' }] as const
  const id = sell(db, { paidAt: noonOf('2026-10-05'), country: 'AT', vatId: 'ATU 1234 5675', name: 'Jörg', lines })
  sell(db, { paidAt: noonOf('2026-10-06'), country: 'AT', vatId: 'atu12345675', lines: [{ priceMinor: 1050 }] })
  sell(db, { paidAt: noonOf('2026-10-07'), country: 'GR', vatId: 'EL094259216', lines: [{ priceMinor: 50 }] })
  sell(db, { paidAt: noonOf('2026-10-08'), country: 'FR', lines })
  const list = (quarter: string) => ecSalesReport.make({ db }, { quarter }, later)
  expect((await list('2026Q4')).rows).toMatchObject([
    { vatId: 'ATU12345675', customer: 'Jörg Quill', supply: 'goods', net: 110.5, wholeEuros: 111 },
    { vatId: 'ATU12345675', supply: 'services', net: 50, wholeEuros: 50 },
    { vatId: 'EL094259216', supply: 'goods', net: 0.5, wholeEuros: 1 }
  ])
  const head = ['#v3.0', 'Umsatzsteuer-Identifikationsnummer (USt-IdNr.),Summe (Euro),Art der Leistung']
  const fourth = [...head, 'ATU12345675,111,L', 'ATU12345675,50,S', 'EL094259216,1,L']
  expect(linesOf(await list('2026Q4'), 'elster')).toEqual(fourth)
  giveBack(db, id, { items: [{ line: 1, quantity: 1 }] }, noonOf('2027-01-10'))
  expect(linesOf(await list('2026Q4'), 'elster')).toEqual(fourth)
  expect(linesOf(await list('2027Q1'), 'elster')).toEqual([...head, 'ATU12345675,-100,L'])
  expect(linesOf(await list('2025Q1'), 'elster')).toEqual(head)
})

it('a shop outside the EU has no such returns, and one outside Germany none for the portals of Germany', async () => {
  const db = germanShop()
  setSetting(db, 'shop.country', 'FR', 0)
  const oss = await ossReport.make({ db }, {}, later)
  expect(() => oss.file('bzst')).toThrow(
    'The file of the BZSt is for shops in Germany, and shop.country is FR. Use --csv alone.'
  )
  expect(() => oss.file('csv')).not.toThrow()
  for (const [country, is] of [
    ['US', 'is US'],
    ['', 'is not set']
  ] as const) {
    setSetting(db, 'shop.country', country, 0)
    await expect(ossReport.make({ db }, {}, later)).rejects.toThrow(
      `The One-Stop-Shop is for shops in the EU, and shop.country ${is}.`
    )
    await expect(ecSalesReport.make({ db }, {}, later)).rejects.toThrow(
      `The EC sales list is for shops in the EU, and shop.country ${is}.`
    )
  }
})

it('the portals take euros only, and the plain file has the other currency', async () => {
  const db = germanShop({ 'shop.currency': 'USD' })
  const vatId = 'ATU12345675'
  for (const buyer of [{ country: 'FR' }, { country: 'AT', vatId }])
    sell(db, { paidAt: noonOf('2026-10-05'), ...buyer, currency: 'USD', lines: [{ priceMinor: 12_000 }] })
  for (const [report, format] of [
    [ossReport, 'bzst'],
    [ecSalesReport, 'elster']
  ] as const) {
    const made = await report.make({ db }, { quarter: '2026Q4' }, later)
    expect(() => made.file(format)).toThrow('is in euros, and there are sales in USD.')
    expect(new TextDecoder().decode(made.file('csv'))).toContain('USD')
  }
})
