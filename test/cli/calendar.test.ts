import { expect, it } from 'vitest'
import { dayText } from '../../src/platform/texts/languages.ts'
import { inactiveReason } from '../../src/shop/catalog/coupon-rules.ts'
import { getCoupon } from '../../src/shop/catalog/coupons.ts'
import { productBySlug } from '../../src/shop/catalog/stored-product.ts'
import { addDays } from '../../src/platform/days.ts'
import { documentsOf } from '../../src/shop/invoices/find.ts'
import { getOrder } from '../../src/shop/orders/find.ts'
import { markPaid } from '../../src/shop/payments/attempts.ts'
import { shopDay, startOfShopDay } from '../../src/shop/settings/shop-days.ts'
import { wordsOf } from '../../src/shop/settings/language.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { draft, line, makeProduct, move, place } from '../shop/orders/support.ts'
import { shopstead } from '../support/command-line.ts'
import { openTestShop } from '../support/shop-context.ts'

function shopIn(timeZone: string) {
  const shop = openTestShop()
  setSetting(shop.db, 'shop.timeZone', timeZone, 0)
  const run = <Json>(...words: string[]) => shopstead<Json>(shop.dataDir, [...words, '--json'])
  return { shop, db: shop.db, run }
}

it('a coupon and a sale until a day are valid all day in the time zone of the shop', async () => {
  const { shop, db, run } = shopIn('America/Los_Angeles')
  using _closed = shop
  const ends = ['--percent', '10', '--ends-at', '2026-12-24']
  expect(await run('coupons', 'create', '--code', 'EVE', ...ends)).toMatchObject({ code: 0 })
  const { stdout } = await shopstead(shop.dataDir, ['coupons', 'list'])
  expect(stdout).toMatch(/EVE .* 2026-12-24 /)
  const one = ['--ends-at', '2026-12-24', '--starts-at', '2026-12-24', '--percent', '5']
  expect(await run('coupons', 'create', '--code', 'ONE', ...one)).toMatchObject({ code: 0 })
  const reason = (code: string, at: string) => inactiveReason(getCoupon(db, code), Date.parse(at))
  expect(reason('EVE', '2026-12-24T23:59:59-08:00')).toBeUndefined()
  expect(reason('EVE', '2026-12-25T00:00:00-08:00')).toBe('expired')
  expect(reason('ONE', '2026-12-23T23:59:59-08:00')).toBe('not_yet')
  expect(reason('ONE', '2026-12-24T00:00:00-08:00')).toBeUndefined()
  const add = ['offers', 'add', '--name', 'Mug', '--price', '12', '--sale-price', '9', '--sale-end', '2026-12-24']
  expect(await run(...add)).toMatchObject({ code: 0 })
  expect(productBySlug(db, 'mug')?.saleEndsAt).toBe(Date.parse('2026-12-25T00:00:00-08:00'))
})

it('orders are listed and exported by days of the shop: when they were placed, paid or documented', async () => {
  const { shop, db, run } = shopIn('Pacific/Auckland')
  using _closed = shop
  const lines = [line(makeProduct(db))]
  // In Auckland, the first is placed on 1 April and paid on the 2nd, and the second placed on the 2nd and not paid.
  const { id: first } = place(db, draft(lines), Date.parse('2026-04-01T23:30:00+13:00'))
  move(db, first, 'processing', {}, Date.parse('2026-04-02T00:00:00+13:00'))
  const { id: second } = place(db, draft(lines), Date.parse('2026-04-02T00:00:00+13:00'))
  const found = async (...words: string[]) => {
    const { json } = await run<{ orders: { id: number }[] }>('orders', ...words)
    return json.orders.map(({ id }) => id)
  }
  const on = (day: string) => ['--from', day, '--to', day]
  expect(await found('list', ...on('2026-04-01'))).toEqual([first])
  expect(await found('export', ...on('2026-04-01'))).toEqual([first])
  expect(await found('export', ...on('2026-04-02'))).toEqual([second])
  expect(await found('export', '--by', 'paid', ...on('2026-04-01'))).toEqual([])
  expect(await found('export', '--by', 'paid', ...on('2026-04-02'))).toEqual([first])
  const documented = async (...words: string[]) => {
    const { json } = await run<{ lines: { orderId: number }[] }>('orders', 'export', '--by', 'document', ...words)
    return json.lines.map(({ orderId }) => orderId)
  }
  expect(await documented(...on('2026-04-02'))).toEqual([first])
  expect(await documented('--to', '2026-04-01')).toEqual([])
  expect(await documented()).toEqual([first])
  expect(await documented('--quarter', '2026Q2')).toEqual([first])
  expect(await run('orders', 'export', '--by', 'document', '--status', 'processing')).toMatchObject({ code: 2 })
  expect(await run('orders', 'export', '--quarter', '2026Q2')).toMatchObject({ code: 2 })
  const time = ['--from', '2026-04-01T12:00Z']
  expect(await run('orders', 'export', '--by', 'document', ...time)).toMatchObject({ code: 2 })
  expect(await found('list', ...time)).toEqual([])
})

it('emails and pages show the days of the shop', () => {
  const { shop } = shopIn('America/New_York')
  using _closed = shop
  const evening = Date.parse('2026-01-16T03:30:00Z')
  expect(wordsOf(shop).day(evening)).toBe('15 January 2026')
  expect(wordsOf(shop).time(evening)).toBe('15 January 2026 at 22:30 GMT-5')
  const site = { lang: 'en', timeZone: 'America/New_York' }
  expect(dayText('2026-01-16T03:30:00Z', site)).toBe('15 January 2026')
  expect(dayText('2026-01-16', site)).toBe('16 January 2026')
})

it('a transfer that arrived earlier counts on its day, and its invoice on the day of issue', async () => {
  const { shop, db, run } = shopIn('Asia/Tokyo')
  using _closed = shop
  const today = shopDay(db, Date.now())
  const [placedOn, arrivedOn] = [addDays(today, -5), addDays(today, -2)]
  const at = startOfShopDay(db, placedOn) + 3_600_000
  const { id } = place(db, draft([line(makeProduct(db))]), at)
  const paid = (on: string) =>
    run<{ order: { history: { reason: string }[] } }>('orders', 'paid', String(id), '--on', on)
  for (const refused of [addDays(placedOn, -1), addDays(today, 1), '2026-02-30', 'yesterday'])
    expect(await paid(refused)).toMatchObject({
      code: 1,
      json: {
        error: { code: 'VALIDATION_FAILED', details: { fieldErrors: { on: [expect.stringContaining(placedOn)] } } }
      }
    })
  expect(getOrder(db, id).paidAt).toBeNull()
  expect(await paid(arrivedOn)).toMatchObject({ code: 0 })
  expect(shopDay(db, getOrder(db, id).paidAt ?? 0)).toBe(arrivedOn)
  expect(documentsOf(db, id)).toMatchObject([{ date: today, document: { paidOn: arrivedOn } }])
  expect(await paid(arrivedOn)).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
  const sales = await run<{ rows: { orders: number }[] }>('report', 'sales', '--from', arrivedOn, '--to', arrivedOn)
  expect(sales.json.rows).toMatchObject([{ orders: 1 }])
})

it('a transfer of the day of the order arrives after the order', async () => {
  const { shop, db } = shopIn('Asia/Tokyo')
  using _closed = shop
  const day = '2026-01-10'
  const at = startOfShopDay(db, day) + 3_600_000
  const { id } = place(db, draft([line(makeProduct(db))]), at)
  expect(markPaid(db, id, 'operator', at + 86_400_000, day).paidAt).toBe(at)
  const { id: other } = place(db, draft([line(makeProduct(db))]), at)
  expect(markPaid(db, other, 'operator', at + 5000, day).paidAt).toBe(at + 5000)
})
