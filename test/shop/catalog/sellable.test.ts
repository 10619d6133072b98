import { expect, test } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { findSellable, publicPrices } from '../../../src/shop/catalog/sellable.ts'
import { returnStock, takeStock } from '../../../src/shop/catalog/stock.ts'
import { shopWith } from './support.ts'
import { noon } from '../../support/temporary-shop.ts'

const base = { slug: 'mug', name: 'Mug', price: '12.00' }
const sizes = (small: object, large: object, product: object = {}) => [
  {
    ...base,
    ...product,
    variations: [
      { sku: 'S', name: 'Small', price: '10.00', ...small },
      { sku: 'L', name: 'Large', price: '14.00', default: true, ...large }
    ]
  }
]

function bought(db: Db, variationId: number | null = null) {
  const found = findSellable(db, 1, variationId, publicPrices(noon))
  return typeof found === 'string' ? found : [found.name, found.unitPriceMinor, found.originalMinor, found.stock]
}

test.each([
  ['a product', [base], null, ['Mug', 1200, null, null]],
  ['a product in a sale', [{ ...base, salePrice: 9, stock: 4 }], null, ['Mug', 900, 1200, 4]],
  [
    'a product before its sale',
    [{ ...base, salePrice: 9, saleStart: '2026-06-01T12:00:01Z' }],
    null,
    ['Mug', 1200, null, null]
  ],
  ['the default variation', sizes({}, {}), null, ['Mug - Large', 1400, null, null]],
  ['a variation that is named', sizes({}, {}), 1, ['Mug - Small', 1000, null, null]],
  [
    'a variation in the sale of its product',
    sizes({}, { salePrice: 11 }, { saleEnd: '2026-07-01' }),
    2,
    ['Mug - Large', 1100, 1400, null]
  ],
  [
    'a variation after the sale of its product',
    sizes({}, { salePrice: 11 }, { saleEnd: '2026-05-01' }),
    2,
    ['Mug - Large', 1400, null, null]
  ],
  ['nothing when the default is sold out and the buyer chose none', sizes({}, { stock: 0 }), null, 'no_variation'],
  [
    'a variation that uses the stock of its product',
    sizes({}, { stock: 3 }, { stock: 2 }),
    1,
    ['Mug - Small', 1000, null, 2]
  ],
  ['nothing of an unpublished product', [{ ...base, published: false }], null, 'not_published'],
  ['nothing that is sold out', [{ ...base, stock: 0 }], null, 'sold_out'],
  ['nothing when all variations are sold out', sizes({ stock: 0 }, { stock: 0 }), null, 'sold_out'],
  ['nothing when the named variation is sold out', sizes({}, { stock: 0 }), 2, 'sold_out'],
  ['nothing when the stock that variations share is sold out', sizes({}, {}, { stock: 0 }), null, 'sold_out'],
  ['no variation of a product that has none', [base], 1, 'unknown_variation'],
  ['no variation of another product', [base, { ...sizes({}, {})[0], slug: 'cup' }], 1, 'unknown_variation'],
  ['nothing for an unknown product', [], null, 'unknown_product']
])('an item buys %s', (_, catalog, variationId, expected) => {
  expect(bought(shopWith(catalog), variationId)).toEqual(expected)
})

test('stock goes down to zero and not below, and can be returned', () => {
  const db = shopWith([{ ...base, stock: 3 }])
  const mug = { productId: 1, variationId: null }
  const take = (quantity: number) => write(db, (tx) => takeStock(tx, mug, quantity))
  expect([take(4), take(2), take(2), take(1), take(1)]).toEqual([false, true, false, true, false])
  write(db, (tx) => returnStock(tx, mug, 2))
  expect(bought(db)).toEqual(['Mug', 1200, null, 2])
})

test('a variation takes from its own stock, or from its product when it has none', () => {
  const db = shopWith(sizes({}, { stock: 1 }, { stock: 2 }))
  const take = (variationId: number, quantity: number) =>
    write(db, (tx) => takeStock(tx, { productId: 1, variationId }, quantity))
  expect([take(2, 2), take(2, 1), take(2, 1)]).toEqual([false, true, false])
  expect([take(1, 3), take(1, 2), take(1, 1)]).toEqual([false, true, false])
  write(db, (tx) => returnStock(tx, { productId: 1, variationId: 1 }, 2))
  write(db, (tx) => returnStock(tx, { productId: 1, variationId: 2 }, 1))
  expect([bought(db, 1), bought(db, 2)]).toEqual([
    ['Mug - Small', 1000, null, 2],
    ['Mug - Large', 1400, null, 1]
  ])
})

test('uncounted stock is always enough and stays uncounted', () => {
  const db = shopWith([base])
  const mug = { productId: 1, variationId: null }
  expect(write(db, (tx) => takeStock(tx, mug, 50))).toBe(true)
  write(db, (tx) => returnStock(tx, mug, 50))
  expect(bought(db)).toEqual(['Mug', 1200, null, null])
  expect(write(db, (tx) => takeStock(tx, { productId: 9, variationId: null }, 1))).toBe(false)
  expect(write(db, (tx) => takeStock(tx, { productId: 1, variationId: 9 }, 1))).toBe(false)
})
