import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GrantSpec } from '../../../src/shop/catalog/grants.ts'
import { evaluateCart, sentCodes } from '../../../src/shop/checkout/cart.ts'
import { assertSellable, cartRefusals, sessionRefusals } from '../../../src/shop/checkout/refusals.ts'
import { CouponsRefused } from '../../../src/shop/orders/problems.ts'
import type { PricedCart } from '../../../src/shop/checkout/cart.ts'
import { refusal } from '../../support/accounts.ts'
import { shopWith } from '../catalog/support.ts'
import { line } from '../orders/support.ts'
import { noon } from '../../support/temporary-shop.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'

/** The lines and coupons of a cart that can be bought as it is. */
function priceCart(...args: Parameters<typeof evaluateCart>): PricedCart {
  const cart = evaluateCart(...args)
  assertSellable(cartRefusals(cart))
  return { lines: cart.lines, coupons: cart.coupons }
}

const guest = { userId: null, emailKey: null }
const prices = [0, 1, 333, 999, 1250, 4999, 100_000]

const catalog = {
  products: prices.map((minor, index) => ({
    slug: `p${index}`,
    name: `Product ${index}`,
    price: (minor / 100).toFixed(2),
    categories: index % 2 === 0 ? ['Even'] : []
  })),
  coupons: [
    { code: 'P1', percent: 1 },
    { code: 'P33', percent: 33.33 },
    { code: 'P50', percent: 50 },
    { code: 'F1', amount: '0.01' },
    { code: 'F250', amount: '2.50' },
    { code: 'F9999', amount: '9999.00' },
    { code: 'SOME', percent: 20, categories: ['Even'] },
    { code: 'ALL', percent: 100 }
  ]
}
const codes = catalog.coupons.map(({ code }) => code)

const anyItems = fc.array(
  fc.record({ productId: fc.integer({ min: 1, max: prices.length }), quantity: fc.integer({ min: 1, max: 50 }) }),
  {
    minLength: 1,
    maxLength: 30
  }
)
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

test("distributes discounts so that lines and coupons sum to the order's discount and no total is negative", () => {
  const shop = shopWith(catalog)
  setSetting(shop, 'checkout.combinePercentCoupons', 'true', noon)
  fc.assert(
    fc.property(anyItems, fc.subarray(codes), fc.constantFrom('EUR', 'JPY', 'KWD'), (items, sent, currency) => {
      const bought = items.some(({ productId }) => productId % 2 === 1) ? sent : sent.filter((code) => code !== 'SOME')
      const { lines, coupons } = priceCart(
        shop,
        { items, codes: sentCodes({ couponCodes: bought }), currency },
        guest,
        noon
      )
      const discount = sum(lines.map((each) => each.discountMinor))
      expect(sum(coupons.map((each) => each.discountMinor))).toBe(discount)
      expect(lines.filter((each) => each.totalMinor < 0 || each.discountMinor < 0)).toEqual([])
      const cost = sum(items.map(({ productId, quantity }) => (prices[productId - 1] ?? 0) * quantity))
      expect(sum(lines.map((each) => each.totalMinor))).toBe(cost - discount)
    }),
    { numRuns: 300 }
  )
})

test('merges equal items into one line under the path of the first', () => {
  const shop = shopWith(catalog)
  fc.assert(
    fc.property(anyItems, (items) => {
      const { lines } = priceCart(shop, { items, codes: [], currency: 'EUR' }, guest, noon)
      const first = [...new Set(items.map(({ productId }) => productId))]
      expect(lines.map(({ productId }) => productId)).toEqual(first)
      expect(lines.map(({ path }) => path)).toEqual(
        first.map((id) => `items.${items.findIndex(({ productId }) => productId === id)}`)
      )
      expect(lines.map(({ quantity }) => quantity)).toEqual(
        first.map((id) => sum(items.filter(({ productId }) => productId === id).map(({ quantity }) => quantity)))
      )
    }),
    { numRuns: 200 }
  )
})

test('requires one billing interval for all subscriptions of a cart', () => {
  const grant = (interval: 'month' | 'year'): GrantSpec => ({ kind: 'subscription', interval, pro: false })
  const added = { shipping: false, taxes: false }
  const monthly = line(1, { path: 'items.0', grants: [grant('month')] })
  const yearly = line(2, { path: 'items.3', grants: [grant('year')] })
  expect(sessionRefusals([line(3), monthly, { ...monthly, path: 'items.2' }], added)).toEqual([])
  expect(sessionRefusals([monthly, line(3), yearly], added)).toEqual([
    {
      problem: {
        path: 'items.3.productId',
        code: 'interval_mixed',
        message: 'Storm lantern has a different billing interval from the other subscriptions.'
      },
      field: 'items.3.productId',
      fieldMessage: 'This item has a different billing interval from the others.'
    }
  ])
})

test('rejects each item that cannot be bought under its own path', () => {
  const shop = shopWith({
    products: [
      { slug: 'mug', name: 'Mug', price: '12.50', stock: 3 },
      { slug: 'none', name: 'None', price: '1.00', stock: 0 },
      { slug: 'draft', name: 'Draft', price: '1.00', published: false }
    ]
  })
  const price = (...items: Parameters<typeof priceCart>[1]['items']) =>
    priceCart(shop, { items, codes: [], currency: 'EUR' }, guest, noon)
  const text = [expect.any(String)]
  expect(() =>
    price(
      { productId: 1, quantity: 2 },
      { productId: 9, quantity: 1 },
      { productId: 2, quantity: 1 },
      { productId: 3, quantity: 1 },
      { productId: 1, variationId: 5, quantity: 1 },
      { productId: 1, quantity: 2 }
    )
  ).toThrow(
    refusal('VALIDATION_FAILED', {
      fieldErrors: {
        'items.1.productId': text,
        'items.2.quantity': text,
        'items.3.productId': text,
        'items.4.variationId': text,
        'items.5.quantity': text
      }
    })
  )
  expect(price({ productId: 1, quantity: 2 }, { productId: 1, quantity: 1 }).lines).toMatchObject([{ quantity: 3 }])
})

test('rejects a line whose total is not a safe integer', () => {
  const shop = shopWith({ products: [{ slug: 'gold', name: 'Gold', price: '1.00' }] })
  shop.sqlite.prepare('UPDATE products SET price_minor = ?').run(Math.floor(Number.MAX_SAFE_INTEGER / 2))
  const price = (quantity: number) =>
    priceCart(shop, { items: [{ productId: 1, quantity }], codes: [], currency: 'EUR' }, guest, noon)
  expect(price(2).lines).toHaveLength(1)
  expect(() => price(3)).toThrow(
    refusal('VALIDATION_FAILED', { fieldErrors: { 'items.0.quantity': [expect.any(String)] } })
  )
})

test('rejects all codes that do not apply, and counts them in the cause', () => {
  const shop = shopWith(catalog)
  const codes = sentCodes({ couponCode: 'nope', couponCodes: ['P50', 'SOME', 'nor this'] })
  const price = () => priceCart(shop, { items: [{ productId: 2, quantity: 1 }], codes, currency: 'EUR' }, guest, noon)
  expect(price).toThrow(
    refusal('VALIDATION_FAILED', {
      fieldErrors: {
        couponCode: ['This code is not valid.'],
        'couponCodes.1': ['This code does not apply to anything in your order.'],
        'couponCodes.2': ['This code is not valid.']
      }
    })
  )
  expect(price).toThrow(expect.objectContaining({ cause: new CouponsRefused(3) }))
  expect(price).toThrow(
    expect.objectContaining({ cause: expect.objectContaining({ count: 3, name: 'CouponsRefused' }) })
  )
})

test('reads the codes of both fields once each, in any case and without empty ones', () => {
  expect(sentCodes({})).toEqual([])
  expect(sentCodes({ couponCode: ' ', couponCodes: ['', 'P1', 'p1 ', 'P50'] })).toEqual([
    { path: 'couponCodes.1', code: 'P1' },
    { path: 'couponCodes.3', code: 'P50' }
  ])
  expect(sentCodes({ couponCode: 'P50', couponCodes: ['p50'] })).toEqual([{ path: 'couponCode', code: 'P50' }])
})

test('returns the coupon and the customer key of a sale', () => {
  const shop = shopWith({
    products: [
      {
        slug: 'club',
        name: 'Club',
        price: '8.00',
        type: 'digital',
        grants: [{ kind: 'subscription', interval: 'month' }]
      }
    ],
    coupons: [{ code: 'TEN', percent: 10 }]
  })
  const priced = (buyer: Parameters<typeof priceCart>[2]) => {
    const input = { items: [{ productId: 1, quantity: 2 }], codes: sentCodes({ couponCode: 'ten' }), currency: 'EUR' }
    return priceCart(shop, input, buyer, noon)
  }
  expect(priced(guest)).toEqual({
    lines: [
      {
        path: 'items.0',
        productId: 1,
        variationId: null,
        name: 'Club',
        sku: null,
        quantity: 2,
        unitPriceMinor: 800,
        listPriceMinor: null,
        discountMinor: 160,
        totalMinor: 1440,
        type: 'digital',
        taxClass: 'standard',
        weightGrams: null,
        grants: [{ kind: 'subscription', interval: 'month', pro: false }]
      }
    ],
    coupons: [{ path: 'couponCode', couponId: 1, code: 'TEN', discountMinor: 160, customerKey: null }]
  })
  expect(priced({ userId: 7, emailKey: 'ada' }).coupons[0]?.customerKey).toBe('user:7')
  expect(priced({ userId: null, emailKey: 'ada' }).coupons[0]?.customerKey).toBe('email:ada')
})

test('a line has the SKU of its variation, else that of its product', () => {
  const shop = shopWith({
    products: [
      { slug: 'mug', name: 'Mug', sku: 'M-1', price: '12.50' },
      { slug: 'plain', name: 'Plain', price: '5' },
      { slug: 'cup', name: 'Cup', sku: 'C', price: '9', variations: [{ sku: 'C-RED', name: 'Red', price: '9' }] }
    ]
  })
  const items = [1, 2, 3].map((productId) => ({ productId, quantity: 1 }))
  const { lines } = priceCart(shop, { items, codes: [], currency: 'EUR' }, guest, noon)
  expect(lines.map(({ sku }) => sku)).toEqual(['M-1', null, 'C-RED'])
})
