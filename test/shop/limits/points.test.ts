import { expect, test } from 'vitest'
import { assertPointsLeft, countFailure, takePoints } from '../../../src/shop/limits/points.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'

const counter = { bucket: 'coupon_failure', key: 'a' } as const
const limited = expect.objectContaining({
  code: 'RATE_LIMITED',
  details: { bucket: 'coupon_failure' },
  headers: { 'Retry-After': '60' }
})

test('asserting takes no points, and several points can be taken at once', async () => {
  using shop = openTestShop()
  setSetting(shop.db, 'limits.coupon_failure', '3/60', shop.clock.now())
  for (let time = 0; time < 5; time += 1) assertPointsLeft(shop, 'RATE_LIMITED', counter)
  await takePoints(shop, 'RATE_LIMITED', counter, 2)
  await expect(takePoints(shop, 'RATE_LIMITED', counter, 2)).rejects.toEqual(limited)
  expect(() => assertPointsLeft(shop, 'RATE_LIMITED', counter)).toThrow(limited)
  const other = { bucket: 'coupon_failure', key: 'b' } as const
  await takePoints(shop, 'RATE_LIMITED', other)
  assertPointsLeft(shop, 'RATE_LIMITED', other)
})

test('a limit that is off counts nothing and refuses nothing', async () => {
  using shop = openTestShop()
  setSetting(shop.db, 'limits.coupon_failure', 'off', shop.clock.now())
  for (let time = 0; time < 20; time += 1) {
    await takePoints(shop, 'RATE_LIMITED', counter, 100)
    await countFailure(shop, counter)
    assertPointsLeft(shop, 'RATE_LIMITED', counter)
  }
  expect(shop.limiter.left(counter.bucket, counter.key, { points: 1, seconds: 60 }).points).toBe(1)
})
