import { expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { createSale, endSale, listSales } from '../../../src/shop/catalog/manage/sales.ts'
import { currentPrice, pricesOf } from '../../../src/shop/catalog/sellable.ts'
import { productBySlug, variationsOfProduct } from '../../../src/shop/catalog/stored-product.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { apply } from './support.ts'
import { shopstead } from '../../support/command-line.ts'
import { openTestShop } from '../../support/shop-context.ts'

const day = { from: '2026-11-27', to: '2026-11-30' }
const sizes = [
  { sku: 'S', name: 'Small', price: '8.00' },
  { sku: 'L', name: 'Large', price: '11.99' }
]
const seed = {
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50', categories: ['Kitchen'] },
    { slug: 'bowl', name: 'Bowl', price: '10.00' },
    { slug: 'map', name: 'Map', price: '0.00' },
    { slug: 'shirt', name: 'Shirt', price: '8.00', variations: sizes, categories: ['Kitchen'] }
  ]
}

function openShop() {
  const shop = openTestShop()
  shop.clock.set(Date.parse('2026-11-20T12:00:00Z'))
  apply(shop.db, seed)
  setSetting(shop.db, 'shop.timeZone', 'Europe/Berlin', 0)
  const priceAt = (slug: string, time: string) => {
    const product = productBySlug(shop.db, slug)
    if (product === undefined) throw new Error(slug)
    const rows = variationsOfProduct(shop.db, product.id)
    const prices = rows.length === 0 ? [null] : rows
    return prices.map((row) => currentPrice(pricesOf(product, row), Date.parse(time)).unitPriceMinor)
  }
  const now = () => shop.clock.now()
  return { shop, db: shop.db, priceAt, now }
}

const refusal = (work: () => unknown): Pick<AppError, 'code' | 'message' | 'details'> => {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('It was not refused.')
}

it('begins and ends by itself with whole days of the zone of the shop, variations too', () => {
  const { shop, db, priceAt, now } = openShop()
  using _closed = shop
  const sale = createSale(db, { name: 'Black Friday', percent: 20, slugs: [], ...day }, now())
  expect(sale).toMatchObject({ products: 3, state: 'planned', percentBps: 2000 })
  expect(priceAt('mug', '2026-11-26T22:59:59Z')).toEqual([1250])
  expect(priceAt('mug', '2026-11-26T23:00:00Z')).toEqual([1000])
  expect(priceAt('shirt', '2026-11-28T12:00:00Z')).toEqual([640, 959])
  expect(priceAt('map', '2026-11-28T12:00:00Z')).toEqual([0])
  expect(priceAt('mug', '2026-11-30T22:59:59Z')).toEqual([1000])
  expect(priceAt('mug', '2026-11-30T23:00:00Z')).toEqual([1250])
  expect(listSales(db, Date.parse('2026-11-28T12:00:00Z'))).toMatchObject([{ state: 'running' }])
  expect(listSales(db, Date.parse('2026-12-01T00:00:00Z'))).toMatchObject([{ state: 'ended' }])
})

it('is of a category or of named products, and ends early', () => {
  const { shop, db, priceAt, now } = openShop()
  using _closed = shop
  createSale(db, { name: 'Kitchen', percent: 12.5, category: 'kitchen', slugs: [], to: day.to }, now())
  createSale(db, { name: 'Bowls', percent: 50, slugs: ['bowl'], to: day.to }, now())
  const during = '2026-11-21T00:00:00Z'
  expect([priceAt('mug', during), priceAt('bowl', during)]).toEqual([[1094], [500]])
  expect(endSale(db, 'KITCHEN', now())).toMatchObject({ name: 'Kitchen', products: 2, state: 'ended' })
  expect([priceAt('mug', during), priceAt('shirt', during), priceAt('bowl', during)]).toEqual([
    [1250],
    [800, 1199],
    [500]
  ])
  expect(refusal(() => endSale(db, 'Kitchen', now()))).toMatchObject({ code: 'NOT_FOUND' })
})

it('does not overlap another sale of a product, and changes nothing when it is refused', () => {
  const { shop, db, priceAt, now } = openShop()
  using _closed = shop
  createSale(db, { name: 'First', percent: 20, slugs: ['mug'], ...day }, now())
  const again = { percent: 30, slugs: [], from: '2026-11-30', to: '2026-12-02' }
  expect(refusal(() => createSale(db, { name: 'Second', ...again }, now()))).toMatchObject({
    code: 'CONFLICT',
    message: 'In these days there is a sale of mug already.',
    details: { products: ['mug'] }
  })
  expect(refusal(() => createSale(db, { name: 'first', ...again }, now()))).toMatchObject({ code: 'CONFLICT' })
  expect(priceAt('bowl', '2026-11-30T12:00:00Z')).toEqual([1000])
  expect(listSales(db, now())).toHaveLength(1)
  const after = Date.parse('2026-12-01T00:00:00Z')
  expect(createSale(db, { name: 'First', percent: 10, slugs: ['mug'], to: '2026-12-02' }, after).state).toBe('running')
  expect(priceAt('mug', '2026-12-01T12:00:00Z')).toEqual([1125])
})

it.each([
  ['a percentage of 0', { percent: 0 }, 'percent'],
  ['a percentage of 100', { percent: 100 }, 'percent'],
  ['a percentage that is none', { percent: 'half' }, 'percent'],
  ['no name', { name: ' ' }, 'name'],
  ['a day that does not exist', { to: '2026-02-30' }, 'to'],
  ['a last day before the first', { from: '2026-12-02' }, 'to'],
  ['a last day that is over', { from: '2026-01-01', to: '2026-01-02' }, 'to']
])('refuses %s by the field', (_what, wrong, field) => {
  const { shop, db, now } = openShop()
  using _closed = shop
  const { code, details } = refusal(() =>
    createSale(db, { name: 'Sale', percent: 20, slugs: [], ...day, ...wrong }, now())
  )
  expect([code, Object.keys(details['fieldErrors'] ?? {})]).toEqual(['VALIDATION_FAILED', [field]])
  expect(listSales(db, now())).toEqual([])
})

it.each([
  ['product', { slugs: ['nothing'] }],
  ['category', { category: 'nothing' }]
])('refuses an unknown %s', (_what, wrong) => {
  const { shop, db, now } = openShop()
  using _closed = shop
  const input = { name: 'Sale', percent: 20, slugs: [], ...day, ...wrong }
  expect(refusal(() => createSale(db, input, now()))).toMatchObject({ code: 'NOT_FOUND' })
})

it('is created, listed and ended from the command line', async () => {
  const { shop } = openShop()
  using _closed = shop
  const run = (...words: string[]) => shopstead(shop.dataDir, ['sales', ...words, '--json'])
  const created = await run('create', 'Winter', '--percent', '10', '--to', '2999-01-31', '--product', 'mug')
  const sale = { name: 'Winter', percent: 10, to: '2999-01-31T23:00:00.000Z', products: 1 }
  expect(created).toMatchObject({ code: 0, json: { sale: { ...sale, state: 'running', endedAt: null } } })
  expect((await run('list')).json).toMatchObject({ sales: [sale] })
  expect(await run('create', 'Other', '--percent', '5', '--to', '2999-01-01')).toMatchObject({ code: 1 })
  expect((await run('end', 'winter')).json).toMatchObject({ sale: { ...sale, state: 'ended' } })
  expect(await run('end', 'winter')).toMatchObject({ code: 1, json: { error: { code: 'NOT_FOUND' } } })
})
