import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GrantSpec } from '../../../src/shop/catalog/schema.ts'
import { assertOneInterval, givenCodes, priceCart } from '../../../src/shop/checkout/cart.ts'
import { refusal } from '../../support/accounts.ts'
import { shopWith } from '../catalog/temporary-shop.ts'
import { line, noon } from '../orders/temporary-shop.ts'

const nobody = { userId: null, emailKey: null }
const prices = [0, 1, 333, 999, 1250, 4999, 100_000]

const catalogue = {
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
const codes = catalogue.coupons.map(({ code }) => code)

const anyItems = fc.array(
  fc.record({ productId: fc.integer({ min: 1, max: prices.length }), quantity: fc.integer({ min: 1, max: 50 }) }),
  {
    minLength: 1,
    maxLength: 30
  }
)
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

test('whatever is bought with whatever codes: lines and coupons sum to the order’s discount, and nothing is below zero', () => {
  const shop = shopWith(catalogue)
  fc.assert(
    fc.property(anyItems, fc.subarray(codes), fc.constantFrom('EUR', 'JPY', 'KWD'), (items, sent, currency) => {
      const bought = items.some(({ productId }) => productId % 2 === 1) ? sent : sent.filter((code) => code !== 'SOME')
      const { lines, coupons } = priceCart(
        shop,
        { items, codes: givenCodes({ couponCodes: bought }), currency },
        nobody,
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

test('equal items are one line, under the path of the first, whatever lies between them', () => {
  const shop = shopWith(catalogue)
  fc.assert(
    fc.property(anyItems, (items) => {
      const { lines } = priceCart(shop, { items, codes: [], currency: 'EUR' }, nobody, noon)
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

test('subscriptions of one cart renew at one interval', () => {
  const grant = (interval: 'month' | 'year'): GrantSpec => ({ kind: 'subscription', interval, pro: false })
  const monthly = line(1, { path: 'items.0', grants: [grant('month')] })
  const yearly = line(2, { path: 'items.3', grants: [grant('year')] })
  expect(() => assertOneInterval([line(3), monthly, { ...monthly, path: 'items.2' }])).not.toThrow()
  expect(() => assertOneInterval([monthly, line(3), yearly])).toThrow(
    refusal('VALIDATION_FAILED', { fieldErrors: { 'items.3.productId': [expect.any(String)] } })
  )
})
