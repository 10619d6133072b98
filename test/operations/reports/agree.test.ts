import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { documentLines } from '../../../src/operations/reports/document-lines.ts'
import { productsReport } from '../../../src/operations/reports/products.ts'
import { reportHtml } from '../../../src/operations/reports/report.ts'
import { salesOf, salesReport } from '../../../src/operations/reports/sales.ts'
import type { SalesRow } from '../../../src/operations/reports/sales.ts'
import { taxReport } from '../../../src/operations/reports/tax.ts'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { parseOpenPeriod } from '../../../src/operations/reports/days.ts'
import { journalOf } from '../../../src/shop/invoices/journal.ts'
import { documentsOf } from '../../../src/shop/invoices/find.ts'
import type { ExportFilter } from '../../../src/shop/customers/export-orders.ts'
import { exportOrders } from '../../../src/shop/customers/export-orders.ts'
import { ordersCsv, ordersCsvHead } from '../../../src/shop/customers/orders-csv.ts'
import { shopDay } from '../../../src/shop/settings/shop-days.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { recordRefund } from '../../../src/shop/orders/transition.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { presetEu } from '../../../src/shop/tax/rates.ts'
import { draft, line, makeProduct, move, place } from '../../shop/orders/support.ts'
import { emptyShop } from '../../support/temporary-shop.ts'

const hourMs = 3_600_000
/** The clocks change in this time in Berlin, New York and Auckland. */
const start = Date.UTC(2026, 2, 1)
const year = { from: '2026-01-01', to: '2026-12-31' }

const order = fc.record({
  hour: fc.nat(24 * 60),
  quantity: fc.integer({ min: 1, max: 3 }),
  price: fc.integer({ min: 100, max: 50_000 }),
  discount: fc.nat(100),
  shipping: fc.nat(900),
  product: fc.nat(2),
  currency: fc.constantFrom('EUR', 'EUR', 'USD'),
  isPaid: fc.boolean(),
  /** Refunds as parts of the total, and how many hours later. */
  refunds: fc.array(fc.record({ part: fc.double({ min: 0.05, max: 1, noNaN: true }), later: fc.nat(500) }), {
    maxLength: 3
  })
})
const shops = fc.record({
  timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Auckland'),
  included: fc.boolean(),
  orders: fc.array(order, { maxLength: 12 })
})
type Made = typeof order extends fc.Arbitrary<infer T> ? T : never

function fill(db: Db, orders: readonly Made[]): void {
  const products = [0, 1, 2].map(() => makeProduct(db))
  for (const { hour, quantity, price, discount, shipping, product, currency, isPaid, refunds } of orders) {
    const at = start + hour * hourMs
    const lines = [
      line(products[product] ?? 0, { quantity, unitPriceMinor: price, discountMinor: discount }),
      line(products[0] ?? 0)
    ]
    const method = { id: 'post', name: 'Post', estimate: null, pickup: false }
    const { id } = place(
      db,
      draft(lines, { currency, shipping: { method, amountMinor: shipping, renewalMinor: null } }),
      at
    )
    if (!isPaid) continue
    move(db, id, 'processing', {}, at + 60_000)
    for (const { part, later } of refunds) {
      const { totalMinor, refundedMinor } = getOrder(db, id)
      const amountMinor = Math.min(Math.ceil(totalMinor * part), totalMinor - refundedMinor)
      const cause = { by: 'operator', reason: 'test' }
      if (amountMinor > 0) write(db, (tx) => recordRefund(tx, id, amountMinor, cause, at + later * hourMs))
    }
  }
}

type Row = Record<string, string>

/** The sums of all rows, by currency. */
function totalSales(rows: readonly SalesRow[]) {
  return [...Map.groupBy(rows, ({ currency }) => currency)].map(([currency, some]) => {
    const sum = (of: (row: SalesRow) => number): number => some.reduce((total, row) => total + of(row), 0)
    return {
      currency,
      orders: sum(({ orders }) => orders),
      goodsMinor: sum(({ goodsMinor }) => goodsMinor),
      discountMinor: sum(({ discountMinor }) => discountMinor),
      shippingMinor: sum(({ shippingMinor }) => shippingMinor),
      taxMinor: sum(({ taxMinor }) => taxMinor),
      totalMinor: sum(({ totalMinor }) => totalMinor),
      refundedMinor: sum(({ refundedMinor }) => refundedMinor)
    }
  })
}

/** The exported orders, each with the row that has its sums. */
function exported(db: Db, filter: ExportFilter = {}): Row[] {
  const parts = [...exportOrders(db, filter, (some) => [ordersCsv(db, some)]).rows]
  const rows: Row[] = parse([ordersCsvHead(), ...parts].join(''), { columns: true })
  return rows.filter((row) => row['total'] !== '')
}

const sumOf = (rows: readonly Row[], name: string): number =>
  rows.reduce((sum, row) => sum + Math.round(Number(row[name]) * 100), 0)

it('sales, products, tax and the exported orders agree, in any time zone and unit', async () => {
  await fc.assert(
    fc.asyncProperty(shops, async ({ timeZone, included, orders }) => {
      const db = emptyShop()
      setSetting(db, 'shop.country', 'DE', 0)
      setSetting(db, 'shop.timeZone', timeZone, 0)
      setSetting(db, 'tax.pricesIncludeTax', String(included), 0)
      presetEu(db, { ownRate: true }, 0)
      fill(db, orders)
      const rows = exported(db).filter((row) => row['paid_at'] !== '')
      const totals = totalSales(salesOf(db, year, 'day'))
      for (const unit of ['week', 'month'] as const) expect(totalSales(salesOf(db, year, unit))).toEqual(totals)
      for (const total of totals) {
        const { currency, goodsMinor, shippingMinor, taxMinor, totalMinor } = total
        const own = rows.filter((row) => row['currency'] === currency)
        expect(total).toMatchObject({
          orders: own.length,
          totalMinor: sumOf(own, 'total'),
          refundedMinor: sumOf(own, 'refunded'),
          discountMinor: sumOf(own, 'discount'),
          shippingMinor: sumOf(own, 'shipping'),
          taxMinor: sumOf(own, 'tax')
        })
        expect(own.filter((row) => row['tax_percent'] !== '19')).toEqual([])
        expect(goodsMinor + shippingMinor + (included ? 0 : taxMinor)).toBe(totalMinor)
        const sold = (await productsReport.make({ db }, { ...year, limit: 100 }, 0)).rows.filter(
          (row) => row['currency'] === currency
        )
        expect(sold.reduce((sum, row) => sum + Math.round(Number(row['total']) * 100), 0)).toBe(goodsMinor)
        // In each month, not only in the year: an order counts on the day of its invoice, a refund on that of its note.
        for (const month of salesOf(db, year, 'month').filter((row) => row.currency === currency)) {
          const { totals: books } = await taxReport.make({ db }, { from: month.from, to: month.to }, 0)
          const gross = Number(books?.find((sum) => sum['currency'] === currency)?.['gross'] ?? 0)
          expect(Math.round(gross * 100)).toBe(month.totalMinor - month.refundedMinor)
        }
        for (const day of salesOf(db, year, 'day').filter((row) => row.currency === currency && row.orders > 0))
          expect(own.filter((row) => row['invoice_date'] === day.from)).toHaveLength(day.orders)
        for (const day of salesOf(db, year, 'day').filter((row) => row.currency === currency && row.orders > 0))
          expect(own.filter((row) => shopDay(db, Date.parse(row['paid_at'] ?? '')) === day.from)).toHaveLength(
            day.orders
          )
      }
    }),
    { numRuns: 8 }
  )
})

it('the exports of a day agree with its reports, in every time zone and when the clocks change', async () => {
  const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  await fc.assert(
    fc.asyncProperty(zones, fc.array(order, { minLength: 1, maxLength: 8 }), async (timeZone, orders) => {
      const db = emptyShop()
      setSetting(db, 'shop.timeZone', timeZone, 0)
      fill(
        db,
        orders.map((one) => ({ ...one, currency: 'EUR' as const }))
      )
      const daysOf = (text: string | undefined): string[] => (text ? [shopDay(db, Date.parse(text))] : [])
      const all = exported(db)
      const notes = db.sqlite.prepare<[], string>('SELECT DISTINCT date FROM invoices').pluck().all()
      const days = new Set([
        ...all.flatMap((row) => [...daysOf(row['placed_at']), ...daysOf(row['paid_at'])]),
        ...notes
      ])
      let placed = 0
      for (const day of days) {
        const span = parseOpenPeriod(db, { from: day, to: day })
        const [sales] = salesOf(db, { from: day, to: day }, 'day')
        const paid = exported(db, { by: 'paid', ...span })
        expect(paid).toHaveLength(sales?.orders ?? -1)
        expect(sumOf(paid, 'total')).toBe(sales?.totalMinor)
        const own = exported(db, { by: 'placed', ...span })
        expect(own.every((row) => daysOf(row['placed_at']).includes(day))).toBe(true)
        placed += own.length
        const { rows: lines } = await documentLines.make({ db }, { from: day, to: day }, 0)
        const documented = [...new Set(lines.map((row) => Number(row['orderId'])))]
        const issued = documented.flatMap((id) => documentsOf(db, id)).filter(({ date }) => date === day)
        expect(lines.reduce((sum, row) => sum + Math.round(Number(row['gross']) * 100), 0)).toBe(
          issued.reduce((sum, { kind, totalMinor }) => sum + (kind === 'invoice' ? 1 : -1) * totalMinor, 0)
        )
        const gross = issued.reduce((sum, { kind, totalMinor }) => sum + (kind === 'invoice' ? 1 : -1) * totalMinor, 0)
        const { totals } = await taxReport.make({ db }, { from: day, to: day }, 0)
        expect(Math.round(Number(totals?.[0]?.['gross'] ?? 0) * 100)).toBe(gross)
        expect((sales?.totalMinor ?? 0) - (sales?.refundedMinor ?? 0)).toBe(gross)
        const journal = journalOf(db, { from: day, to: day })
        expect(journal.reduce((sum, { netMinor, taxMinor }) => sum + netMinor + taxMinor, 0)).toBe(gross)
        expect(new Set(journal.map(({ number }) => number))).toEqual(new Set(issued.map(({ number }) => number)))
      }
      expect(placed).toBe(all.length)
    }),
    { numRuns: 18 }
  )
})

it('a shop without orders has a row of zeros for each day', async () => {
  const { rows, page } = await salesReport.make(
    { db: emptyShop() },
    { from: '2026-02-27', to: '2026-03-02', by: 'day' },
    0
  )
  const zeros = {
    currency: 'EUR',
    orders: 0,
    goods: 0,
    giftCards: 0,
    discount: 0,
    shipping: 0,
    tax: 0,
    total: 0,
    refunded: 0,
    net: 0
  }
  expect(rows).toEqual(
    ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'].map((day) => ({ from: day, to: day, ...zeros }))
  )
  expect(reportHtml('Shop', page, 'now')).not.toContain('<svg')
})

it('weeks start on Monday and months on their first day, and the ends are cut', () => {
  const db = emptyShop()
  const days = { from: '2026-02-27', to: '2026-03-10' }
  const spans = (unit: 'week' | 'month') => salesOf(db, days, unit).map(({ from, to }) => `${from} ${to}`)
  expect(spans('week')).toEqual(['2026-02-27 2026-03-01', '2026-03-02 2026-03-08', '2026-03-09 2026-03-10'])
  expect(spans('month')).toEqual(['2026-02-27 2026-02-28', '2026-03-01 2026-03-10'])
})

it('an order of a version without invoices counts its refunds when it was paid', () => {
  const db = emptyShop()
  fill(db, [
    {
      hour: 1,
      quantity: 1,
      price: 1000,
      discount: 0,
      shipping: 0,
      product: 1,
      currency: 'EUR',
      isPaid: true,
      refunds: []
    }
  ])
  db.sqlite.exec('DROP TRIGGER invoices_kept; DELETE FROM invoices; UPDATE orders SET refunded_minor = 300')
  expect(totalSales(salesOf(db, year, 'month'))).toMatchObject([{ orders: 1, refundedMinor: 300 }])
  // Also one that was paid in the first moment of the days.
  const from = Number(db.sqlite.prepare('SELECT paid_at FROM orders').pluck().get())
  db.sqlite.prepare('UPDATE orders SET paid_at = ?').run(Math.floor(from / 86_400_000) * 86_400_000)
  expect(totalSales(salesOf(db, year, 'day'))).toMatchObject([{ orders: 1, refundedMinor: 300 }])
})

it('the last days of the calendar end', () => {
  const db = emptyShop()
  const days = { from: '9999-12-30', to: '9999-12-31' }
  for (const unit of ['day', 'week', 'month'] as const) expect(salesOf(db, days, unit).at(-1)?.to).toBe('9999-12-31')
})
