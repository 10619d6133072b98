import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { RunningShop } from '../support/running-shop.ts'
import { checkOut, count, handoff, hidden, mug, shopFor } from './checkout-support.ts'

/** The rows that the shop's database wrote or deleted while `work` ran. */
async function writesOf(shop: RunningShop, work: () => Promise<void>): Promise<number> {
  const total = () => Number(shop.app.db.sqlite.prepare('SELECT total_changes()').pluck().get())
  const before = total()
  await work()
  return total() - before
}

it.each([
  ['whose body is malformed', { items: [] }, 422],
  ['for something that is not sold', { items: [hidden] }, 422],
  ['with a code that does not apply', { items: [mug], couponCode: 'NOPE' }, 422],
  ['with a return address that is not allowed', { items: [mug], returnUrl: 'https://evil.example/' }, 422],
  ['that the gateway does not offer', { items: [mug], ...handoff }, 501]
])('writes nothing for a checkout with a random key %s', async (_what, body, status) => {
  const shop = await shopFor({
    env: { SHOPSTEAD_PAYMENTS: 'manual' },
    settings: { 'checkout.returnOrigins': 'https://front.example' }
  })
  const writes = await writesOf(shop, async () => {
    for (let time = 0; time < 3; time += 1)
      expect((await checkOut(shop.visitor(), body, { key: randomUUID() })).status).toBe(status)
  })
  expect(writes).toBe(0)
})

it('writes nothing for a checkout with a random key past the limit of its address', async () => {
  const shop = await shopFor({ settings: { 'limits.checkout_ip': '1/600' } })
  expect((await checkOut(shop.visitor(), { items: [mug] }, { key: 'first' })).status).toBe(200)
  const writes = await writesOf(shop, async () => {
    for (let time = 0; time < 3; time += 1)
      expect((await checkOut(shop.visitor(), { items: [mug] }, { key: randomUUID() })).status).toBe(429)
    const repeated = await checkOut(shop.visitor(), { items: [mug] }, { key: 'first' })
    expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
  })
  expect([writes, count(shop, 'idempotency_keys')]).toEqual([0, 1])
})
