import { expect, test, vi } from 'vitest'
import { readFailedJobs } from '../../src/operations/failed-jobs.ts'
import { repeat } from '../../src/operations/jobs.ts'
import { write } from '../../src/platform/db/database.ts'
import { createStripeClient } from '../../src/platform/stripe-client.ts'
import { createAttempt, getAttempt, updateAttempt } from '../../src/shop/payments/attempts.ts'
import { draft, line, makeProduct, place } from '../shop/orders/support.ts'
import { startShop } from '../support/running-shop.ts'

test('the first payments job after a start leaves the attempts of new checkouts alone', async () => {
  const gate = Promise.withResolvers<void>()
  const client = async () => {
    await gate.promise
    const httpClient = shop.app.sandbox?.httpClient
    return createStripeClient({ secretKey: 'sk_test_sandbox', ...(httpClient === undefined ? {} : { httpClient }) })
  }
  const cards = { name: 'sandbox', client, webhookSecret: undefined, livemode: false } as const
  const shop = await startShop({ overrides: { cards } })
  const { db, clock } = shop.app
  const begin = () => {
    const order = place(db, draft([line(makeProduct(db))]), clock.now())
    const how = { gateway: 'sandbox', kind: 'payment_intent', livemode: false } as const
    return write(db, (tx) => createAttempt(tx, order, how, clock.now()))
  }
  const [begun, stranded] = [begin(), begin()]
  // A time in the future puts this attempt last in the run.
  write(db, (tx) => updateAttempt(tx, stranded.id, {}, clock.now() + 60 * 60_000))
  gate.resolve()
  await vi.waitFor(() => expect(getAttempt(db, stranded.id).outcome).toBe('failed'), { timeout: 10_000 })
  expect(getAttempt(db, begun.id).outcome).toBeNull()
  await shop.stop()
})

test('a job whose run takes more than ten minutes is behind until the run ends', async () => {
  let now = Date.now()
  const shop = await startShop({ overrides: { clock: { now: () => now } } })
  const run = Promise.withResolvers<void>()
  const job = repeat(shop.app, 'slow', 5, () => run.promise)
  const problem = () => readFailedJobs(shop.dataDir)['slow']?.error
  await vi.waitFor(() => {
    now += 60_000
    expect(problem()).toMatch(/^it is behind: its run of .* has not finished$/)
  })
  run.resolve()
  await vi.waitFor(() => expect(problem()).toBeUndefined())
  await job.stop()
  await shop.stop()
})
