import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { chargeStepMinor } from '../../../src/platform/money.ts'
import { discountLines, findCombinationRefusal, findCouponRefusal } from '../../../src/shop/catalog/coupon-rules.ts'
import type { CouponScope, Discount } from '../../../src/shop/catalog/coupon-rules.ts'
import type { CouponRow } from '../../../src/shop/catalog/rows.ts'

const everything: CouponScope = { productIds: [], categoryIds: [] }
const percent = (bps: number, scope = everything): Discount => ({ percentBps: bps, amountMinor: null, ...scope })
const fixed = (minor: number, scope = everything): Discount => ({ percentBps: null, amountMinor: minor, ...scope })
const line = (productId: number, totalMinor: number, categoryIds: number[] = []) => ({
  productId,
  totalMinor,
  categoryIds
})

const ids = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 })
const anyLines = (stepMinor: number) =>
  fc.array(
    fc.record({
      productId: fc.integer({ min: 1, max: 4 }),
      categoryIds: ids,
      totalMinor: fc.integer({ min: 0, max: 50_000_000 }).map((value) => value * stepMinor)
    }),
    { minLength: 1, maxLength: 30 }
  )
const anyCoupons = fc.array(
  fc.oneof(
    fc.record({
      percentBps: fc.integer({ min: 1, max: 10_000 }),
      amountMinor: fc.constant(null),
      productIds: ids,
      categoryIds: ids
    }),
    fc.record({
      percentBps: fc.constant(null),
      amountMinor: fc.integer({ min: 1, max: 10_000_000 }),
      productIds: ids,
      categoryIds: ids
    })
  ),
  { maxLength: 10 }
)
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

test.each(['JPY', 'EUR', 'ISK', 'KWD'])(
  'discounts in %s sum to the total, never exceed a line, and leave a total that can be charged',
  (currency) => {
    const stepMinor = chargeStepMinor(currency)
    fc.assert(
      fc.property(anyLines(stepMinor), anyCoupons, (lines, coupons) => {
        const discounts = discountLines(lines, coupons, currency)
        expect(sum(discounts.byLine)).toBe(discounts.totalMinor)
        expect(sum(discounts.byCoupon)).toBe(discounts.totalMinor)
        expect(
          [...discounts.byLine, ...discounts.byCoupon].every((value) => Number.isSafeInteger(value) && value >= 0)
        ).toBe(true)
        expect(lines.every(({ totalMinor }, index) => (discounts.byLine[index] ?? 0) <= totalMinor)).toBe(true)
        expect((sum(lines.map(({ totalMinor }) => totalMinor)) - discounts.totalMinor) % stepMinor).toBe(0)
      })
    )
  }
)

test('a line outside the scope of every coupon keeps its price', () => {
  const lines = [line(1, 1000), line(2, 1000, [7]), line(3, 1000)]
  const { byLine } = discountLines(lines, [percent(5000, { productIds: [1], categoryIds: [7] })], 'EUR')
  expect(byLine).toEqual([500, 500, 0])
})

test('fixed amounts apply after percentages, each to the remaining amount', () => {
  const discounts = discountLines([line(1, 10_000)], [fixed(1000), percent(1000), percent(1000)], 'EUR')
  expect(discounts.byCoupon).toEqual([1000, 1000, 900])
  expect(discounts.totalMinor).toBe(2900)
})

test('a fixed amount is limited to the remaining amount', () => {
  expect(discountLines([line(1, 300), line(2, 200)], [fixed(1000)], 'EUR')).toEqual({
    totalMinor: 500,
    byLine: [300, 200],
    byCoupon: [500]
  })
})

test('the remaining cents of a discount go to the lines with the largest remainders', () => {
  expect(discountLines([line(1, 100), line(2, 100), line(3, 100)], [fixed(100)], 'EUR').byLine).toEqual([34, 33, 33])
})

test('a percentage discount in ISK or KWD is rounded to an amount that can be charged', () => {
  expect(discountLines([line(1, 99_900)], [percent(1250)], 'ISK').totalMinor).toBe(12_500)
  expect(discountLines([line(1, 9990)], [percent(1250)], 'KWD').totalMinor).toBe(1250)
})

const coupon: CouponRow = {
  id: 1,
  code: 'SPRING',
  codeKey: 'spring',
  percentBps: 1000,
  amountMinor: null,
  startsAt: null,
  endsAt: null,
  minTotalMinor: null,
  maxUses: null,
  maxUsesPerCustomer: null,
  exclusive: false,
  used: 0,
  enabled: true,
  createdAt: 0
}

type Case = [string | undefined, Partial<CouponRow> | undefined, { scope?: CouponScope }]

test.each<Case>([
  ['unknown', undefined, {}],
  ['disabled', { enabled: false }, {}],
  ['not_yet', { startsAt: 1001 }, {}],
  [undefined, { startsAt: 1000 }, {}],
  ['expired', { endsAt: 1000 }, {}],
  [undefined, { endsAt: 1001 }, {}],
  ['used_up', { maxUses: 2, used: 2 }, {}],
  [undefined, { maxUses: 2, used: 1 }, {}],
  ['min_total', { minTotalMinor: 501 }, {}],
  [undefined, { minTotalMinor: 500 }, {}],
  ['no_product', {}, { scope: { productIds: [9], categoryIds: [9] } }],
  [undefined, {}, { scope: { productIds: [9], categoryIds: [4] } }]
])('the refusal is %s for a coupon with %j and %j', (reason, changes, { scope = everything }) => {
  const row = changes === undefined ? undefined : { ...coupon, ...changes }
  const order = { lines: [line(1, 300), line(2, 200, [4])], now: 1000 }
  expect(findCouponRefusal(row, scope, order)).toBe(reason)
})

const tenPercent = { percentBps: 1000, exclusive: false }
const amount = { percentBps: null, exclusive: false }

test.each([
  [undefined, { ...amount, exclusive: true }, [], false],
  ['exclusive', { ...amount, exclusive: true }, [amount], true],
  ['exclusive', amount, [amount, { ...tenPercent, exclusive: true }], true],
  [undefined, amount, [amount, tenPercent], false],
  [undefined, tenPercent, [amount, amount], false],
  ['second_percent', tenPercent, [amount, tenPercent], false],
  [undefined, tenPercent, [amount, tenPercent], true]
])('the refusal is %s for the coupon %j beside %j when percentages combine: %s', (reason, one, others, combines) => {
  expect(findCombinationRefusal(one, others, combines)).toBe(reason)
})
