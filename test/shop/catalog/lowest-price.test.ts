import { expect, it } from 'vitest'
import { createSale } from '../../../src/shop/catalog/manage/sales.ts'
import { reprice } from '../../../src/shop/catalog/manage/reprice.ts'
import { lowestBefore, purgePrices } from '../../../src/shop/catalog/public/lowest-price.ts'
import { lowestPrice } from '../../../src/shop/catalog/public/price.ts'
import { productBySlug, variationsOfProduct } from '../../../src/shop/catalog/stored-product.ts'
import { write } from '../../../src/platform/db/database.ts'
import { apply } from './support.ts'
import { openTestShop } from '../../support/shop-context.ts'

const dayMs = 86_400_000
const sizes = [
  { sku: 'S', name: 'Small', price: '8.00', unitMeasure: '250 ml' },
  { sku: 'L', name: 'Large', price: '12.00', unitMeasure: '1 l' }
]

/** A shop that opened 100 days ago. `lastChangeDaysAgo` moves the changes since the last call into the past. */
function openShop() {
  const shop = openTestShop()
  const { db, clock } = shop
  const now = Date.now()
  clock.set(now)
  apply(db, {
    products: [
      { slug: 'tea', name: 'Tea', price: '10.00', unitMeasure: '400 g' },
      { slug: 'oil', name: 'Oil', price: '8.00', variations: sizes }
    ]
  })
  db.sqlite.prepare('UPDATE products SET created_at = ?').run(now - 100 * dayMs)
  let moved = 0
  const lastChangeDaysAgo = (days: number) => {
    db.sqlite.prepare('UPDATE price_history SET until = until - ? WHERE id > ?').run(days * dayMs, moved)
    moved = Number(db.sqlite.prepare('SELECT max(id) FROM price_history').pluck().get())
  }
  const lowest = (slug: string, at = now + 2000) => {
    const product = productBySlug(db, slug)
    if (product === undefined) throw new Error(slug)
    const rows = variationsOfProduct(db, product.id)
    return (rows.length === 0 ? [null] : rows).map((row) => lowestBefore(db, product, row, at))
  }
  const setPrice = (price: string, rest: object = {}) =>
    apply(db, { products: [{ slug: 'tea', name: 'Tea', price, ...rest }] })
  return { db, now, lastChangeDaysAgo, lowest, setPrice }
}

it('a product that is not on sale names no lowest price', () => {
  const { lowest, setPrice } = openShop()
  setPrice('9.00')
  expect(lowest('tea')).toEqual([null])
})

it('a sale names the lowest price of the 30 days before it, and not an older one', () => {
  const { lowest, setPrice, lastChangeDaysAgo } = openShop()
  setPrice('7.00')
  lastChangeDaysAgo(60)
  setPrice('9.00')
  lastChangeDaysAgo(40)
  setPrice('12.00')
  lastChangeDaysAgo(10)
  setPrice('12.00', { salePrice: '6.00' })
  expect(lowest('tea')).toEqual([900])
})

it('a sale soon after another one names the price of the other one', () => {
  const { lowest, setPrice, lastChangeDaysAgo } = openShop()
  setPrice('10.00', { salePrice: '6.00' })
  lastChangeDaysAgo(20)
  setPrice('10.00', { salePrice: null })
  lastChangeDaysAgo(15)
  setPrice('10.00', { salePrice: '8.00' })
  expect(lowest('tea')).toEqual([600])
})

it('a sale with a period that is over by itself counts until its end', () => {
  const { db, now, lowest, lastChangeDaysAgo } = openShop()
  createSale(db, { name: 'First', percent: 40, from: iso(now + dayMs), to: iso(now + 2 * dayMs), slugs: [] }, now)
  lastChangeDaysAgo(30)
  const past = { starts: now - 29 * dayMs, ends: now - 20 * dayMs }
  db.sqlite.prepare('UPDATE products SET sale_starts_at = ?, sale_ends_at = ?').run(past.starts, past.ends)
  db.sqlite.prepare('DELETE FROM price_history WHERE until > ?').run(now - dayMs)
  createSale(db, { name: 'Second', percent: 10, to: iso(now + dayMs), slugs: [] }, now)
  expect(lowest('tea')).toEqual([600])
  expect(lowest('oil')).toEqual([480, 720])
})

it('a longer sale at the same price still names what came before it', () => {
  const { lowest, setPrice, lastChangeDaysAgo, now } = openShop()
  setPrice('10.00', { salePrice: '8.00' })
  lastChangeDaysAgo(50)
  setPrice('10.00', { salePrice: '8.00', saleEnd: iso(now + 9 * dayMs) })
  expect(lowest('tea')).toEqual([1000])
})

it('a deeper price during a sale names the price of that sale', () => {
  const { lowest, setPrice, lastChangeDaysAgo } = openShop()
  setPrice('10.00', { salePrice: '8.00' })
  lastChangeDaysAgo(50)
  setPrice('10.00', { salePrice: '5.00' })
  expect(lowest('tea')).toEqual([800])
})

it('a product that was never sold at another price names none', () => {
  const { db, lowest, now } = openShop()
  apply(db, { products: [{ slug: 'new', name: 'New', price: '10.00', salePrice: '5.00' }] })
  expect(lowest('new', now + dayMs)).toEqual([null])
})

it('a price of a litre or kilogram follows from the price and the content', () => {
  const { db, now } = openShop()
  const priceOf = (slug: string) => {
    const product = productBySlug(db, slug)
    if (product === undefined) throw new Error(slug)
    return lowestPrice(db, product, variationsOfProduct(db, product.id), 'EUR', now).unitPrice
  }
  expect(priceOf('tea')).toEqual({ amount: 25, unit: 'kg' })
  expect(priceOf('oil')).toEqual({ amount: 32, unit: 'l' })
  reprice(db, { percentBps: 1000, stepMinor: 1 }, now)
  expect(priceOf('tea')).toEqual({ amount: 27.5, unit: 'kg' })
})

it('prices of more than 400 days ago are deleted', () => {
  const { db, setPrice, lastChangeDaysAgo, now } = openShop()
  setPrice('9.00')
  lastChangeDaysAgo(401)
  setPrice('8.00')
  expect(write(db, (tx) => purgePrices(tx, now, 100))).toBe(1)
  expect(db.sqlite.prepare('SELECT price_minor FROM price_history').pluck().all()).toEqual([900])
})

const iso = (at: number): string => new Date(at).toISOString()
