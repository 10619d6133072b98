import { expect, test } from 'vitest'
import { validationFailed } from '../../../src/errors.ts'
import { writeWhenFree } from '../../../src/platform/db/database.ts'
import { evaluateCodes } from '../../../src/shop/checkout/limits.ts'
import { CouponsRefused } from '../../../src/shop/orders/problems.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { atOnce, refusal, tally } from '../../support/accounts.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const limited = refusal('RATE_LIMITED', { bucket: 'coupon_failure' })

function openShop(limit: string): TestShop {
  const shop = openTestShop()
  setSetting(shop.db, 'limits.coupon_failure', limit, shop.clock.now())
  return shop
}

function refuse(codes: number): never {
  const error = validationFailed({ couponCode: ['Is not valid.'] })
  error.cause = new CouponsRefused(codes)
  throw error
}

/** Codes of which so many are wrong, judged where an order is written: with all others of the moment in one transaction. */
const send = (shop: TestShop, wrong: number, addressKey = 'a') =>
  evaluateCodes(shop, addressKey, (evaluate) =>
    writeWhenFree(shop.db, () => evaluate(() => (wrong === 0 ? 'placed' : refuse(wrong))))
  )

const left = (shop: TestShop) => shop.limiter.left('coupon_failure', 'a', { points: 10, seconds: 60 }).points

test('allows wrong codes that arrive together no more tries than in sequence', async () => {
  using shop = openShop('10/60')
  const results = await atOnce(300, (index) => send(shop, index === 20 ? 0 : 1))
  expect(tally(results)).toEqual({ VALIDATION_FAILED: 10, RATE_LIMITED: 290 })
  await expect(send(shop, 0)).rejects.toThrow(limited)
  await expect(send(shop, 0, 'b')).resolves.toBe('placed')
})

test('counts each wrong code of a cart, and does not report codes beyond the limit', async () => {
  using shop = openShop('10/60')
  expect(tally(await atOnce(50, () => send(shop, 4)))).toEqual({ VALIDATION_FAILED: 2, RATE_LIMITED: 48 })
})

test('does not count right codes or refuse them while tries are left', async () => {
  using shop = openShop('10/60')
  const results = await atOnce(500, (index) => send(shop, index < 9 ? 1 : 0))
  expect(tally(results)).toEqual({ VALIDATION_FAILED: 9, in: 491 })
  expect(left(shop)).toBe(1)
})

test('reports the end of the new window when it refuses at its start', async () => {
  using shop = openShop('1/60')
  const [, second] = await atOnce(2, () => send(shop, 1))
  expect(second).toMatchObject({ reason: { code: 'RATE_LIMITED', headers: { 'Retry-After': '60' } } })
})

test('counts repeated work once, by its last result', async () => {
  using shop = openShop('10/60')
  const twice = (first: number, last: number) =>
    evaluateCodes(shop, 'a', async (evaluate) => {
      expect(() => evaluate(() => refuse(first))).toThrow(refusal('VALIDATION_FAILED'))
      return evaluate(() => (last === 0 ? 'placed' : refuse(last)))
    })
  await expect(twice(10, 3)).rejects.toThrow(refusal('VALIDATION_FAILED'))
  expect(left(shop)).toBe(7)
  await expect(twice(7, 0)).resolves.toBe('placed')
  expect(left(shop)).toBe(7)
})

test('does not count other errors, and refuses nothing without a limit', async () => {
  using shop = openShop('1/60')
  const fail = () =>
    evaluateCodes(shop, 'a', async (evaluate) =>
      evaluate(() => {
        throw validationFailed({ items: [] })
      })
    )
  for (let time = 0; time < 3; time += 1) await expect(fail()).rejects.toThrow(refusal('VALIDATION_FAILED'))
  await expect(send(shop, 0)).resolves.toBe('placed')
  setSetting(shop.db, 'limits.coupon_failure', 'off', shop.clock.now())
  expect(tally(await atOnce(5, () => send(shop, 3)))).toEqual({ VALIDATION_FAILED: 5 })
})
