import { expect, it } from 'vitest'
import { changeSetting } from '../../src/operations/change-setting.ts'
import { convertCurrency, parseConversion } from '../../src/operations/convert-currency.ts'
import { write } from '../../src/platform/db/database.ts'
import { priceHistory, variations } from '../../src/shop/catalog/schema.ts'
import { setting } from '../../src/shop/settings/settings.ts'
import { applyShipping } from '../../src/shop/shipping/zones.ts'
import { draft, line, makeCoupon, makeProduct, makeVariation, place } from '../shop/orders/support.ts'
import { changeBystanders } from '../support/bystanders/watch.ts'
import { emptyShop } from '../support/temporary-shop.ts'

const prices = (db: ReturnType<typeof emptyShop>) =>
  db.sqlite.prepare('SELECT price_minor, sale_price_minor FROM products ORDER BY id').raw().all()

it('converts all prices in one step, each to an amount that the new currency can charge', () => {
  changeBystanders()
  const db = emptyShop()
  makeProduct(db, { priceMinor: 1250, salePriceMinor: 999 })
  makeProduct(db, { slug: 'free', priceMinor: 0 })
  makeProduct(db, { slug: 'cheap', priceMinor: 2, salePriceMinor: 1 })
  makeCoupon(db, { percentBps: null, amountMinor: 500, minTotalMinor: 2000 })
  const counts = convertCurrency(db, parseConversion('USD', '1.08', '0.10'), 0)
  expect(counts).toEqual({ products: 3, variations: 0, coupons: 1, shippingMethods: 0 })
  // 13.50, 10.79 to 10.80; nothing is below a step, and a sale at the price is over.
  expect(prices(db)).toEqual([
    [1350, 1080],
    [0, null],
    [10, null]
  ])
  expect(db.sqlite.prepare('SELECT amount_minor, min_total_minor FROM coupons').raw().get()).toEqual([540, 2160])
  expect(setting(db, 'shop.currency')).toBe('USD')
})

it('converts each variation, earlier price and shipping method by its own amount', () => {
  changeBystanders()
  const db = emptyShop()
  const id = makeProduct(db, { priceMinor: 1000 })
  const method = { freeFromMinor: null, perKgMinor: null, maxWeightGrams: null, estimate: null, pickup: false }
  const parcel = { ...method, id: 'parcel', name: 'Parcel' }
  const ofProduct = { productId: id, stock: null, isDefault: false }
  write(db, (tx) => {
    tx.orm
      .insert(variations)
      .values([
        { ...ofProduct, sku: 'S', name: 'S', priceMinor: 1000, position: 0 },
        { ...ofProduct, sku: 'M', name: 'M', priceMinor: 2000, salePriceMinor: 1500, position: 1 }
      ])
      .run()
    tx.orm.delete(priceHistory).run()
    for (const priceMinor of [700, 800])
      tx.orm.insert(priceHistory).values({ productId: id, priceMinor, until: 1 }).run()
    applyShipping(tx, [
      { zone: 'Germany', countries: ['DE'], methods: [{ ...parcel, amountMinor: 400, freeFromMinor: 5000 }] },
      {
        zone: 'Elsewhere',
        countries: ['*'],
        methods: [
          { ...parcel, amountMinor: 900, perKgMinor: 200 },
          { ...method, id: 'express', name: 'Express', amountMinor: 2000 }
        ]
      }
    ])
  })
  convertCurrency(db, parseConversion('USD', '2', undefined), 0)
  const rows = (sql: string): unknown[] => db.sqlite.prepare(sql).raw().all()
  expect(rows('SELECT price_minor, sale_price_minor FROM variations ORDER BY id')).toEqual([
    [2000, null],
    [4000, 3000]
  ])
  expect(rows('SELECT price_minor FROM price_history ORDER BY id LIMIT 2')).toEqual([[1400], [1600]])
  const methods = 'SELECT amount_minor, free_from_minor, per_kg_minor FROM shipping_methods ORDER BY amount_minor'
  expect(rows(methods)).toEqual([
    [800, 10_000, null],
    [1800, null, 400],
    [4000, null, null]
  ])
})

it('converts between currencies with other decimals', () => {
  changeBystanders()
  const db = emptyShop()
  const id = makeProduct(db, { priceMinor: 1250 })
  makeVariation(db, id, null)
  convertCurrency(db, parseConversion('JPY', '161.5', undefined), 0)
  expect(prices(db)).toEqual([[2019, null]])
})

it('is refused once there is an order, and the setting alone once there is a price', () => {
  const db = emptyShop()
  changeSetting(db, 'shop.currency', 'USD', 0)
  const id = makeProduct(db)
  expect(() => changeSetting(db, 'shop.currency', 'EUR', 0)).toThrow('shopstead offers convert EUR --rate RATE')
  place(db, draft([line(id)]))
  expect(() => convertCurrency(db, parseConversion('EUR', '1', undefined), 0)).toThrow('once there is an order')
  expect(setting(db, 'shop.currency')).toBe('USD')
})

it.each([
  ['XYZ', '1', undefined, 'currency'],
  ['USD', '0', undefined, 'rate'],
  ['USD', '1e3', undefined, 'rate'],
  ['USD', '-1', undefined, 'rate'],
  ['USD', '1', '0', 'round']
])('refuses %s at %s, rounded to %s', (currency, rate, round, field) => {
  expect(() => parseConversion(currency, rate, round)).toThrow(
    expect.objectContaining({ details: { fieldErrors: { [field]: [expect.any(String)] } } })
  )
})
