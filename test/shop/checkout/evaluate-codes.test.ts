import { expect, test } from 'vitest'
import { validationFailed } from '../../../src/errors.ts'
import { writeWhenFree } from '../../../src/platform/db/busy.ts'
import { evaluateCodes } from '../../../src/shop/checkout/evaluate-codes.ts'
import { CouponsRefused } from '../../../src/shop/orders/coupons-refused.ts'
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

test('wrong codes sent together get no more tries than one after another', async () => {
  using shop = openShop('10/60')
  const results = await atOnce(300, (index) => send(shop, index === 20 ? 0 : 1))
  expect(tally(results)).toEqual({ VALIDATION_FAILED: 10, RATE_LIMITED: 290 })
  await expect(send(shop, 0)).rejects.toThrow(limited)
  await expect(send(shop, 0, 'b')).resolves.toBe('placed')
})

test('each wrong code of a cart counts, and those past the limit are not told', async () => {
  using shop = openShop('10/60')
  expect(tally(await atOnce(50, () => send(shop, 4)))).toEqual({ VALIDATION_FAILED: 2, RATE_LIMITED: 48 })
})

test('good codes count nothing, and are not refused while tries are left, however many are sent', async () => {
  using shop = openShop('10/60')
  const results = await atOnce(500, (index) => send(shop, index < 9 ? 1 : 0))
  expect(tally(results)).toEqual({ VALIDATION_FAILED: 9, in: 491 })
  expect(left(shop)).toBe(1)
})

test('a refusal of the first moments says when the window that just begins will end', async () => {
  using shop = openShop('1/60')
  const [, second] = await atOnce(2, () => send(shop, 1))
  expect(second).toMatchObject({ reason: { code: 'RATE_LIMITED', headers: { 'Retry-After': '60' } } })
})

test('work that is done anew counts once, by what it says last', async () => {
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

test('what fails for another reason counts nothing, and without a limit nothing is refused', async () => {
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
