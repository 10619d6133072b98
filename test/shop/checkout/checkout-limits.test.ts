import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { runCardCheckout, takeCheckoutPoint } from '../../../src/shop/checkout/limits.ts'
import { countFailure } from '../../../src/shop/limits/points.ts'
import type { Bucket } from '../../../src/shop/settings/definitions.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const limited = (bucket: string) =>
  expect.objectContaining({
    code: 'RATE_LIMITED',
    details: { bucket },
    headers: { 'Retry-After': expect.stringMatching(/^[1-9]\d*$/) as string }
  })

function limit(shop: TestShop, bucket: Bucket, value: string): void {
  setSetting(shop.db, `limits.${bucket}`, value, shop.clock.now())
}

test('takes a point of the address for each checkout, and refuses one without points', async () => {
  using shop = openTestShop()
  limit(shop, 'checkout_ip', '2/60')
  await takeCheckoutPoint(shop, 'a', 'redirect_to_store')
  await takeCheckoutPoint(shop, 'a', 'token_handoff')
  await expect(takeCheckoutPoint(shop, 'a', 'redirect_to_store')).rejects.toEqual(limited('checkout_ip'))
  await takeCheckoutPoint(shop, 'b', 'redirect_to_store')
})

test('refuses only card handoffs of an address after too many declined cards', async () => {
  using shop = openTestShop()
  const declined = () => countFailure(shop, { bucket: 'checkout_decline', key: 'a' })
  limit(shop, 'checkout_decline', '2/60')
  await declined()
  await takeCheckoutPoint(shop, 'a', 'token_handoff')
  await declined()
  await declined()
  await expect(takeCheckoutPoint(shop, 'a', 'token_handoff')).rejects.toEqual(limited('checkout_decline'))
  await takeCheckoutPoint(shop, 'a', 'redirect_to_store')
  await takeCheckoutPoint(shop, 'b', 'token_handoff')
})

test('runs as many cards of one address at the same time as may still be declined, and at most six', async () => {
  using shop = openTestShop()
  const most = async (limitation: string, strategy: 'token_handoff' | 'redirect_to_store' | undefined) => {
    limit(shop, 'checkout_decline', limitation)
    let [running, seen] = [0, 0]
    const checkout = async () => {
      running += 1
      seen = Math.max(seen, running)
      // Whatever may run beside it has started by the end of this turn.
      await nextTurn()
      running -= 1
      return 'paid'
    }
    const all = Array.from({ length: 9 }, () => runCardCheckout(shop, limitation, strategy, checkout))
    expect(await Promise.all(all)).toEqual(Array(9).fill('paid'))
    return seen
  }
  expect(await most('2/60', 'token_handoff')).toBe(2)
  expect(await most('50/60', 'token_handoff')).toBe(6)
  expect(await most('2/60', 'redirect_to_store')).toBe(9)
  expect(await most('2/60', undefined)).toBe(9)
})
