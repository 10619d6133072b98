import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { recordClicks } from '../../src/shop/affiliates/clicks.ts'
import { getAffiliateStats } from '../../src/shop/referrals/stats.ts'
import {
  couponLine,
  credited,
  draft,
  line,
  makeAffiliate,
  makeCoupon,
  makeProduct,
  makeUser,
  makeVariation,
  move,
  place
} from '../shop/orders/support.ts'
import { setTaxRate } from '../../src/shop/tax/rates.ts'
import { shopstead } from '../support/command-line.ts'
import { demoShop } from '../support/demo-shop.ts'
import { openTestShop } from '../support/shop-context.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Json = { rows: Record<string, unknown>[]; totals: object; file: string }

const days = ['--from', '2025-01-01', '--to', '2027-12-31']
const dayMs = 86_400_000

it.each(['sales', 'products', 'coupons', 'affiliates', 'stock', 'tax', 'journal'])(
  'report %s answers rows as JSON, the same rows as CSV, and a page with charts that loads nothing',
  async (kind) => {
    const dataDir = demoShop()
    const folder = temporaryFolder()
    const [csv, html] = [join(folder, 'rows.csv'), join(folder, 'page.html')]
    const { code, json } = await shopstead<Json>(dataDir, ['report', kind, ...days, '--json'])
    expect(code).toBe(0)
    expect(json.rows.length).toBeGreaterThan(0)
    const written = await shopstead<Json>(dataDir, ['report', kind, ...days, '--json', '--csv', csv, '--html', html])
    expect(written.json).toMatchObject({ file: csv })
    expect(written.json).not.toHaveProperty('rows')
    expect(parse(readFileSync(csv, 'utf8'), { columns: true, bom: true })).toHaveLength(json.rows.length)
    const page = readFileSync(html, 'utf8')
    expect(page).toContain('<svg')
    expect(page).not.toMatch(/<script|<link|<img|url\(|src=|undefined|NaN/)
    const again = await shopstead(dataDir, ['report', kind, '--html', html])
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already exists') })
  }
)

it('report sales draws bars on a terminal that fit its width, and none elsewhere', async () => {
  const dataDir = demoShop()
  const args = ['report', 'sales', ...days, '--by', 'month']
  const { stdout } = await shopstead(dataDir, args, { answers: [] })
  const lines = stdout.split('\n')
  expect(stdout).toContain('█')
  expect(lines.filter((text) => text.length > 80)).toEqual([])
  expect((await shopstead(dataDir, args)).stdout).not.toContain('█')
  expect(lines.some((text) => /^Total +\d+ +€[\d,.]+ +€[\d,.]+ +€[\d,.]+$/.test(text))).toBe(true)
})

it('a report without orders says so, and does not fail', async () => {
  using shop = openTestShop()
  for (const kind of ['sales', 'products', 'coupons', 'affiliates', 'stock', 'tax', 'journal'])
    expect(await shopstead(shop.dataDir, ['report', kind], { answers: [] })).toMatchObject({ code: 0, stderr: '' })
})

it('report refuses days that are none, in the wrong order, or too many rows', async () => {
  using shop = openTestShop()
  const codeOf = async (...args: string[]) => (await shopstead(shop.dataDir, ['report', 'sales', ...args])).code
  expect(await codeOf('--from', '2026-02-31')).toBe(2)
  expect(await codeOf('--from', '2026-03-01', '--to', '2026-02-01')).toBe(2)
  expect(await codeOf('--by', 'hour')).toBe(2)
  expect(await codeOf('--from', '0001-01-01', '--to', '9999-12-31', '--by', 'day')).toBe(1)
  expect(await codeOf('--from', '2026-01-01', '--to', '2026-01-01')).toBe(0)
})

it('report affiliates agrees with what each affiliate sees, and counts the clicks of affiliates without orders', async () => {
  using shop = openTestShop()
  const now = Date.now()
  const mira = makeAffiliate(shop.db, makeUser(shop.db, 'mira@shop.example').id)
  const noor = makeAffiliate(shop.db, makeUser(shop.db, 'noor@shop.example').id, 'noor')
  const lines = [line(makeProduct(shop.db))]
  for (const ago of [1, 2, 40]) {
    const { id } = place(shop.db, draft(lines, { attribution: credited(mira) }), now - ago * dayMs)
    move(shop.db, id, 'processing', {}, now - ago * dayMs)
  }
  place(shop.db, draft(lines, { attribution: credited(mira) }), now)
  write(shop.db, (tx) => recordClicks(tx, mira.id, { clicks: 8 }, now))
  write(shop.db, (tx) => recordClicks(tx, noor.id, { clicks: 3 }, now - dayMs))
  const own = getAffiliateStats(shop.db, mira.userId, 30, now)
  const { json } = await shopstead<Json>(shop.dataDir, [
    'report',
    'affiliates',
    '--json',
    '--from',
    own.from,
    '--to',
    own.to
  ])
  const { clicks, orders, conversionPercent, commissions } = own.totals
  expect(orders).toBe(2)
  expect(json.rows).toEqual([
    {
      code: 'mira',
      clicks,
      orders,
      conversionPercent,
      currency: 'EUR',
      commission: (commissions[0]?.amountMinor ?? 0) / 100
    },
    { code: 'noor', clicks: 3, orders: 0, conversionPercent: 0, currency: 'EUR', commission: 0 }
  ])
  expect(json.totals).toMatchObject({ clicks: 11, orders: 2 })
})

it('report stock names what is sold out and low, with the days that it lasts at the pace of the sales', async () => {
  using shop = openTestShop()
  const now = Date.now()
  const fast = makeProduct(shop.db, { slug: 'fast', stock: 40 })
  makeProduct(shop.db, { slug: 'gone', stock: 0 })
  makeProduct(shop.db, { slug: 'few', stock: 5 })
  makeProduct(shop.db, { slug: 'plenty', stock: 500 })
  makeProduct(shop.db, { slug: 'uncounted' })
  makeProduct(shop.db, { slug: 'hidden', stock: 0, published: false })
  const shirt = makeProduct(shop.db, { slug: 'shirt', stock: 99 })
  const red = makeVariation(shop.db, shirt, 3)
  const sell = (lines: Parameters<typeof draft>[0], state: 'processing' | 'refunded' = 'processing') => {
    const { id } = place(shop.db, draft(lines), now)
    move(shop.db, id, 'processing', {}, now)
    if (state === 'refunded') move(shop.db, id, 'refunded', {}, now)
  }
  sell([line(fast, { quantity: 30 })])
  sell([line(fast, { quantity: 10 })], 'refunded')
  sell([line(shirt, { variationId: red, quantity: 1 })])
  const { json } = await shopstead<Json>(shop.dataDir, ['report', 'stock', '--json'])
  expect(
    json.rows.map(({ slug, sku, state, stock, sold, daysLeft }) => [slug, sku, state, stock, sold, daysLeft])
  ).toEqual([
    ['gone', null, 'sold_out', 0, 0, null],
    ['fast', null, 'low', 10, 30, 10],
    ['shirt', 'red', 'low', 2, 1, 60],
    ['few', null, 'low', 5, 0, null]
  ])
  expect(json).toMatchObject({ counts: { soldOut: 1, low: 3, ok: 1 } })
  const all = await shopstead<Json>(shop.dataDir, ['report', 'stock', '--json', '--all', '--low', '1'])
  expect(all.json.rows.map(({ slug }) => slug)).toEqual(['gone', 'fast', 'shirt', 'few', 'plenty'])
})

it('report coupons sums the paid orders of each coupon, and counts an order with two coupons once in the totals', async () => {
  using shop = openTestShop()
  const now = Date.now()
  const product = makeProduct(shop.db)
  const welcome = couponLine(makeCoupon(shop.db), { discountMinor: 125 })
  const winter = couponLine(makeCoupon(shop.db, { code: 'WINTER', codeKey: 'winter' }), { discountMinor: 200 })
  const sell = (coupons: (typeof welcome)[], paidAt = now): number => {
    const discountMinor = coupons.reduce((sum, coupon) => sum + coupon.discountMinor, 0)
    const { id } = place(shop.db, draft([line(product, { discountMinor })], { coupons }), paidAt)
    move(shop.db, id, 'processing', {}, paidAt)
    return id
  }
  move(shop.db, sell([welcome]), 'refunded', {}, now)
  sell([welcome])
  sell([welcome, winter])
  sell([])
  sell([welcome], now - 400 * dayMs)
  place(shop.db, draft([line(product, { discountMinor: 125 })], { coupons: [welcome] }), now)
  const { json } = await shopstead<Json>(shop.dataDir, ['report', 'coupons', '--json'])
  expect(json.rows).toEqual([
    { code: 'WELCOME10', currency: 'EUR', orders: 3, discount: 3.75, revenue: 31.75, refunded: 11.25 },
    { code: 'WINTER', currency: 'EUR', orders: 1, discount: 2, revenue: 9.25, refunded: 0 }
  ])
  expect(json.totals).toEqual([{ currency: 'EUR', orders: 3, discount: 5.75, revenue: 31.75, refunded: 11.25 }])
  const { stdout } = await shopstead(shop.dataDir, ['report', 'coupons', '--limit', '1'])
  expect(stdout).toMatch(/^WELCOME10 +3 +€3\.75 +€31\.75 +€11\.25$/m)
  expect(stdout).toMatch(/^All coupons +3 +€5\.75 +€31\.75 +€11\.25$/m)
  expect(stdout).toContain('1 more rows are not shown')
})

it('report products says what a product earns: without tax, at its rate, and only with a cost price', async () => {
  using shop = openTestShop()
  // Another rate in the order, so that the rate of a line is found by its place among the taxes.
  setTaxRate(shop.db, { country: 'DE', region: '', class: 'reduced', rateMillionths: 70_000, name: 'Reduced' })
  setTaxRate(shop.db, { country: 'DE', region: '', class: 'standard', rateMillionths: 190_000, name: 'VAT' })
  const lamp = makeProduct(shop.db, { costMinor: 300 })
  const book = makeProduct(shop.db)
  const tea = makeProduct(shop.db, { costMinor: 100, taxClass: 'reduced' })
  const billingAddress = { country: 'DE' }
  const lines = [
    line(lamp, { quantity: 2, unitPriceMinor: 1190 }),
    line(book, { unitPriceMinor: 500 }),
    line(tea, { unitPriceMinor: 214, taxClass: 'reduced' })
  ]
  move(shop.db, place(shop.db, draft(lines, { billingAddress })).id, 'processing')
  const { json } = await shopstead<Json>(shop.dataDir, ['report', 'products', ...days, '--json'])
  expect(json.rows).toMatchObject([
    { total: 23.8, margin: 14, marginPercent: 70 },
    { total: 5, margin: null, marginPercent: null },
    { total: 2.14, margin: 1, marginPercent: 50 }
  ])
})

it('a report writes its file for another program, and says what is wrong with a quarter, a format or the shop', async () => {
  using shop = openTestShop()
  const folder = temporaryFolder()
  const run = async (...args: string[]) => shopstead(shop.dataDir, ['report', ...args])
  const batch = join(folder, 'EXTF.csv')
  expect(await run('journal', '--quarter', '2026Q1', '--format', 'datev', '--csv', batch)).toMatchObject({ code: 0 })
  expect(readFileSync(batch, 'latin1')).toMatch(/^"EXTF";700;21;"Buchungsstapel";13;.*\r\n/)
  const refused = [
    [['journal', '--quarter', '2026Q5'], 2, '--quarter takes a quarter from Q1 to Q4, such as 2026Q4.'],
    [['journal', '--format', 'datev'], 2, '--format says what --csv writes. Pass --csv FILE with it.'],
    [['journal', '--format', 'sage', '--csv', join(folder, 'a')], 2, 'datev'],
    [['oss'], 1, 'The One-Stop-Shop is for shops in the EU, and shop.country is not set.'],
    [['ec-sales'], 1, 'The EC sales list is for shops in the EU, and shop.country is not set.']
  ] as const
  for (const [args, code, message] of refused)
    expect(await run(...args)).toMatchObject({ code, stderr: expect.stringContaining(message) })
  expect(readdirSync(folder)).toEqual(['EXTF.csv'])
})

it('orders documents takes a quarter', async () => {
  using shop = openTestShop()
  const now = Date.now()
  const { id } = place(shop.db, draft([line(makeProduct(shop.db))]), now)
  move(shop.db, id, 'processing', {}, now)
  const [year, month] = new Date(now).toISOString().split('-').map(Number)
  const quarter = `${year}Q${Math.ceil((month ?? 1) / 3)}`
  const run = async (...args: string[]) => shopstead(shop.dataDir, ['orders', 'documents', ...args, '--json'])
  expect((await run(join(temporaryFolder(), 'this'), '--quarter', quarter)).json).toMatchObject({ documents: 1 })
  expect((await run(join(temporaryFolder(), 'other'), '--quarter', '2019Q1')).json).toMatchObject({ documents: 0 })
  expect(await run(join(temporaryFolder(), 'wrong'), '--quarter', '2026Q0')).toMatchObject({ code: 2 })
})
