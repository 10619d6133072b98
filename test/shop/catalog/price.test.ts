import { expect, test } from 'vitest'
import { currentPrice, nextPriceChange } from '../../../src/shop/catalog/sellable.ts'

const priced = { priceMinor: 1000, salePriceMinor: 800, saleStartsAt: null, saleEndsAt: null }

test.each([
  ['without a sale', { salePriceMinor: null }, 1000, null],
  ['without a period', {}, 800, 1000],
  ['before its start', { saleStartsAt: 51 }, 1000, null],
  ['at its start', { saleStartsAt: 50 }, 800, 1000],
  ['before its end', { saleEndsAt: 51 }, 800, 1000],
  ['at its end', { saleEndsAt: 50 }, 1000, null],
  ['not below the regular price', { salePriceMinor: 1000 }, 1000, null],
  ['at zero', { salePriceMinor: 0 }, 0, 1000]
])('the current price is right for a sale %s', (_, changes, unitPriceMinor, originalMinor) => {
  expect(currentPrice({ ...priced, ...changes }, 50)).toEqual({ unitPriceMinor, originalMinor })
})

test.each([
  [{ saleStartsAt: 60, saleEndsAt: 70 }, 60],
  [{ saleStartsAt: 50, saleEndsAt: 70 }, 70],
  [{ saleStartsAt: 40, saleEndsAt: 50 }, null],
  [{ salePriceMinor: null, saleStartsAt: 60 }, null]
])('a price with the sale %j next changes at %s', (changes, at) => {
  expect(nextPriceChange({ ...priced, ...changes }, 50)).toBe(at)
})
