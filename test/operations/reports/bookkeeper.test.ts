import { parse } from 'csv-parse/sync'
import { expect, it } from 'vitest'
import { documentLines } from '../../../src/operations/reports/document-lines.ts'
import { ecSalesReport } from '../../../src/operations/reports/ec-sales.ts'
import { journalReport } from '../../../src/operations/reports/journal.ts'
import { ossReport } from '../../../src/operations/reports/oss.ts'
import { taxReport } from '../../../src/operations/reports/tax.ts'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { exportOrders } from '../../../src/shop/customers/export-orders.ts'
import { ordersCsv, ordersCsvHead } from '../../../src/shop/customers/orders-csv.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { insertRenewal } from '../../../src/shop/orders/renewal-order.ts'
import { payOrder } from '../../../src/shop/orders/transition.ts'
import { germanShop, noonOf, sell } from './german-shop.ts'
import { giveBack } from '../../shop/orders/support.ts'
import type { SoldLine } from './german-shop.ts'

// A bookkeeper's 51 orders of a German shop. What the reports must say is computed here from the orders, in whole numbers
// and without a function of the shop.

type Buyer = { country: 'DE' | 'FR' | 'AT' | 'US'; vatId?: string }
type Order = {
  day: string
  buyer: Buyer
  lines: readonly SoldLine[]
  shipping: number
  returned: number[]
  back: string
}

const buyers: readonly Buyer[] = [
  { country: 'DE' },
  { country: 'FR' },
  { country: 'AT' },
  { country: 'DE', vatId: 'DE136695976' },
  { country: 'FR', vatId: 'FR40303265045' },
  { country: 'AT', vatId: 'ATU12345675' },
  { country: 'US' }
]
const goods: readonly SoldLine[] = [
  { priceMinor: 4790 },
  { priceMinor: 1290, taxClass: 'reduced', quantity: 2 },
  { priceMinor: 999, type: 'digital' },
  { priceMinor: 33, quantity: 3 }
]

/** Two orders a week from July, each with other goods for another buyer. Each fifth gives a line back, some much later. */
const orders: readonly Order[] = Array.from({ length: 51 }, (_, index) => {
  const first = Date.parse('2026-07-01T00:00:00Z')
  const dayOf = (days: number): string => new Date(first + days * 86_400_000).toISOString().slice(0, 10)
  const lines = goods.filter((_line, at) => ((index + 1) >> (at % 3)) % 2 === 1 || at === index % 4)
  const isShipped = lines.some(({ type }) => type !== 'digital')
  return {
    day: dayOf(Math.floor(index * 3.5)),
    buyer: buyers[index % buyers.length] ?? { country: 'DE' },
    lines,
    shipping: isShipped && index % 2 === 0 ? 490 : 0,
    returned: index % 5 === 0 ? [0] : [],
    back: dayOf(Math.floor(index * 3.5) + (index % 10 === 0 ? 100 : 3))
  }
})

type Key = { day: string; country: string; rate: bigint; kind: string; supply: string; vatId: string; supplied: string }
type Entry = Key & { net: bigint; tax: bigint }

const halfUp = (numerator: bigint, denominator: bigint): bigint => (2n * numerator + denominator) / (2n * denominator)
const ratesOf: Readonly<Record<string, { standard: bigint; reduced: bigint }>> = {
  DE: { standard: 1900n, reduced: 700n },
  FR: { standard: 2000n, reduced: 550n },
  AT: { standard: 2000n, reduced: 1000n }
}

/** Shares of an amount by weight: rounded down, and a cent more for the largest remainders. */
function divide(amount: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((all, weight) => all + weight, 0n)
  const shares = weights.map((weight) => (sum === 0n ? 0n : (amount * weight) / sum))
  const rests = weights.map((weight, index) => ({ index, rest: sum === 0n ? 0n : (amount * weight) % sum }))
  const missing = Number(amount - shares.reduce((all, share) => all + share, 0n))
  const order = rests.toSorted((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest > b.rest ? -1 : 1))
  for (const { index } of sum === 0n ? [] : order.slice(0, missing)) shares[index] = (shares[index] ?? 0n) + 1n
  return shares
}

/** A line, or the shipping that the lines of a rate carry (`line` -1). */
type Part = Entry & { line: number }

/** What one sale books: the tax of each rate is rounded once, and divided among its lines and its shipping by price. */
function partsOf({ day, buyer, lines, shipping }: Order): Part[] {
  const { country, vatId = '' } = buyer
  const isBusiness = vatId !== '' && country !== 'DE'
  const prices = lines.map(({ priceMinor, quantity = 1 }) => BigInt(priceMinor) * BigInt(quantity))
  const shipped = lines.map(({ type }, at) => (type === 'digital' ? 0n : (prices[at] ?? 0n)))
  const listed = divide(BigInt(shipping), shipped)
  const classOf = (at: number): bigint => ratesOf[country]?.[lines[at]?.taxClass ?? 'standard'] ?? 0n
  // A business pays the shipping without the tax that its list price contains.
  const untaxedShipping = listed.reduce((all, share, at) => all + halfUp(share * 10_000n, 10_000n + classOf(at)), 0n)
  const carried = isBusiness ? divide(untaxedShipping, shipped) : listed
  const parts = lines.flatMap((line, at): Part[] => {
    const isDigital = line.type === 'digital'
    const rate = isBusiness ? 0n : classOf(at)
    const untaxed = isBusiness ? (isDigital ? 'reverse_charge' : 'supply') : isDigital ? 'outside' : 'export'
    const kind = rate === 0n ? untaxed : 'taxed'
    const part = { day, country, rate, kind, supply: isDigital ? 'services' : 'goods', vatId, supplied: day, tax: 0n }
    // The gross, until the tax is taken out below.
    return [
      { ...part, line: at, net: prices[at] ?? 0n },
      { ...part, line: -1, net: carried[at] ?? 0n }
    ]
  })
  return [...Map.groupBy(parts, ({ rate, kind }) => `${rate} ${kind}`).values()].flatMap((some) => {
    const goodsParts = some.filter(({ line }) => line >= 0)
    const first = some.find(({ line }) => line < 0)
    const shippingGross = some.reduce((all, { line, net }) => all + (line < 0 ? net : 0n), 0n)
    const members = [
      ...goodsParts,
      ...(first === undefined || shippingGross === 0n ? [] : [{ ...first, supply: 'goods', net: shippingGross }])
    ]
    const grosses = members.map(({ net }) => net)
    const gross = grosses.reduce((all, each) => all + each, 0n)
    const rate = some[0]?.rate ?? 0n
    const taxes = divide(halfUp(gross * rate, 10_000n + rate), grosses)
    return members.map((part, at) => ({ ...part, net: part.net - (taxes[at] ?? 0n), tax: taxes[at] ?? 0n }))
  })
}

/** What giving the first line back books. */
function returnedOf(order: Order): Entry[] {
  return partsOf(order)
    .filter(({ line }) => order.returned.includes(line))
    .map((part) => ({ ...part, day: order.back, net: -part.net, tax: -part.tax }))
}

function book(db: Db): void {
  const events = orders.flatMap((order, index) => [
    { at: order.day, index, isRefund: false, order },
    ...(order.returned.length === 0 ? [] : [{ at: order.back, index, isRefund: true, order }])
  ])
  const ids = new Map<number, number>()
  for (const { at, index, isRefund, order } of events.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))) {
    const { buyer, lines, shipping } = order
    if (isRefund)
      giveBack(db, ids.get(index) ?? 0, { items: [{ line: 1, quantity: lines[0]?.quantity ?? 1 }] }, noonOf(at))
    else
      ids.set(index, sell(db, { paidAt: noonOf(at), ...buyer, lines, shippingMinor: shipping, name: `Buyer ${index}` }))
  }
}

const cents = (value: unknown): bigint => BigInt(Math.round(Number(value) * 100))
const words = (...values: unknown[]): string => values.map(String).join(' ')
const later = noonOf('2027-06-01')

it('reports of 51 orders say what a bookkeeper computes from the orders', async () => {
  const db = germanShop()
  book(db)
  const entries = orders.flatMap((order) => [...partsOf(order), ...returnedOf(order)])
  const sumOf = (some: readonly Entry[]): [bigint, bigint] => [
    some.reduce((all, { net }) => all + net, 0n),
    some.reduce((all, { tax }) => all + tax, 0n)
  ]
  for (const quarter of ['2026Q3', '2026Q4', '2027Q1']) {
    const [from, to] = { '2026Q3': ['2026-07-01', '2026-09-30'], '2026Q4': ['2026-10-01', '2026-12-31'] }[quarter] ?? [
      '2027-01-01',
      '2027-03-31'
    ]
    const own = entries.filter(({ day }) => day >= (from ?? '') && day <= (to ?? ''))
    const journal = await journalReport.make({ db }, { quarter }, later)
    const sums = (rows: readonly Record<string, unknown>[]): [bigint, bigint] => [
      rows.reduce((all, row) => all + cents(row['net']), 0n),
      rows.reduce((all, row) => all + cents(row['tax']), 0n)
    ]
    expect(sums(journal.rows)).toEqual(sumOf(own))
    for (const [key, some] of Map.groupBy(own, ({ country, rate, kind }) => `${country} ${rate} ${kind}`)) {
      const rows = journal.rows.filter(
        (row) => words(row['country'], cents(row['ratePercent']), row['category']) === key
      )
      expect([key, ...sums(rows)]).toEqual([key, ...sumOf(some)])
    }
    const tax = await taxReport.make({ db }, { quarter }, later)
    expect(sums(tax.rows)).toEqual(sumOf(own))
    expect(sums((await documentLines.make({ db }, { quarter }, later)).rows)).toEqual(sumOf(own))

    const oss = await ossReport.make({ db }, { quarter }, later)
    const abroad = own.filter(({ kind, country }) => kind === 'taxed' && country !== 'DE')
    const ossKey = ({ country, rate, supply, supplied }: Entry): string =>
      [country, rate, supply, supplied < (from ?? '') ? 'correction' : 'sale'].join(' ')
    const expected = [...Map.groupBy(abroad, ossKey)].map(([key, some]) => [key, ...sumOf(some)] as const)
    const shown = oss.rows.map(
      (row) =>
        [
          words(
            row['country'],
            cents(row['ratePercent']),
            row['supply'],
            row['correction'] === true ? 'correction' : 'sale'
          ),
          cents(row['net']),
          cents(row['tax'])
        ] as const
    )
    const sorted = (rows: readonly (readonly [string, bigint, bigint])[]) =>
      rows.toSorted(([a], [b]) => (a < b ? -1 : 1))
    expect(sorted(shown)).toEqual(sorted(expected))

    const list = await ecSalesReport.make({ db }, { quarter }, later)
    const owed = own.filter(({ kind }) => kind === 'supply' || kind === 'reverse_charge')
    const businesses = [...Map.groupBy(owed, ({ vatId, supply }) => `${vatId} ${supply}`)]
      .map(([key, some]) => [key, sumOf(some)[0]] as const)
      .filter(([, net]) => net !== 0n)
    expect(list.rows.map((row) => [words(row['vatId'], row['supply']), cents(row['net'])])).toEqual(
      businesses.toSorted(([a], [b]) => (a < b ? -1 : 1))
    )
  }
})

it('the export of orders has the invoice, the rate and the tax of each line', () => {
  const db = germanShop()
  book(db)
  const parts = [...exportOrders(db, {}, (some) => [ordersCsv(db, some)]).rows]
  const rows: Record<string, string>[] = parse([ordersCsvHead(), ...parts].join(''), { columns: true })
  const shown = rows.map((row) => [
    row['line'],
    cents(row['tax_percent']),
    cents(row['line_net']),
    cents(row['line_tax'])
  ])
  const expected = orders
    .toSorted((a, b) => (a.day < b.day ? -1 : 1))
    .flatMap((order) =>
      partsOf(order)
        .filter(({ line }) => line >= 0)
        .toSorted((a, b) => a.line - b.line)
        .map(({ line, rate, net, tax }) => [String(line + 1), rate, net, tax])
    )
  expect(shown).toEqual(expected)
  expect(rows.every((row) => /^202[67]-\d+$/.test(row['invoice'] ?? ''))).toBe(true)
})

it('a subscription books each renewal in its own quarter, at the rates of its buyer', async () => {
  const db = germanShop()
  const grants = [{ kind: 'subscription' as const, interval: 'month' as const, pro: false }]
  const first = sell(db, {
    paidAt: noonOf('2026-11-15'),
    country: 'FR',
    lines: [{ priceMinor: 1500, taxClass: 'reduced', grants }]
  })
  for (const day of ['2026-12-15', '2027-01-15'])
    write(db, (tx) => {
      const payment = { amountMinor: 1500, currency: 'EUR', by: 'gateway' }
      const { id } = insertRenewal(tx, getOrder(tx, first), payment, noonOf(day))
      payOrder(tx, id, { by: 'gateway', reason: 'renewed' }, noonOf(day))
    })
  const tax = halfUp(1500n * 550n, 10_550n)
  for (const [quarter, count] of [
    ['2026Q4', 2n],
    ['2027Q1', 1n]
  ] as const) {
    const { rows } = await ossReport.make({ db }, { quarter }, later)
    expect(rows.map((row) => [row['country'], cents(row['net']), cents(row['tax'])])).toEqual([
      ['FR', count * (1500n - tax), count * tax]
    ])
  }
})

it('the files of a closed quarter have the same bytes after later sales, refunds and corrections', async () => {
  const db = germanShop({ 'accounting.taxCodes': 'sales=20% (VAT on Income)' })
  book(db)
  const quarter = { quarter: '2026Q3' }
  const files = async (now: number): Promise<string[]> => {
    const made = await Promise.all(
      [journalReport, documentLines, ossReport, ecSalesReport, taxReport].map(async (report) => {
        const { file } = await report.make({ db }, quarter, now)
        return report.formats.map(({ name }) => Buffer.from(file(name)).toString('hex'))
      })
    )
    return made.flat()
  }
  const before = await files(later)
  const third = orders.findIndex(({ returned }) => returned.length === 0)
  giveBack(db, third + 1, {}, noonOf('2027-04-01'))
  sell(db, { paidAt: noonOf('2027-04-02'), country: 'FR', lines: goods })
  expect(await files(noonOf('2027-07-01'))).toEqual(before)
  const { file } = await documentLines.make({ db }, { quarter: '2027Q2' }, later)
  const rows: Record<string, string>[] = parse(Buffer.from(file('csv')), { columns: true, bom: true })
  expect(rows.filter(({ kind }) => kind === 'credit_note').map((row) => row['document_date'])).toContain('2027-04-01')
})
