import { expect, test } from 'vitest'
import { runCountingFailures, runInSlot } from '../../../src/shop/limits/counted-attempts.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { collectGarbage } from '../../support/garbage.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const counter = { bucket: 'coupon_failure', key: 'a' } as const

function openLimited(limit: string): TestShop {
  const shop = openTestShop()
  setSetting(shop.db, 'limits.coupon_failure', limit, shop.clock.now())
  return shop
}

/** An attempt that ends when the test says so. */
function held(): { attempt: () => Promise<{ failed: boolean }>; end: (failed: boolean) => void; fail: () => void } {
  const { promise, resolve, reject } = Promise.withResolvers<{ failed: boolean }>()
  return {
    attempt: () => promise,
    end: (failed) => resolve({ failed }),
    fail: () => reject(new Error('the attempt broke'))
  }
}

test('a slot is free again after an attempt that ended, and after one that threw', async () => {
  using shop = openLimited('9/60')
  const [first, second] = [held(), held()]
  const order: string[] = []
  const running = [
    runInSlot(shop, counter, 1, first.attempt).catch((error: unknown) => order.push(String(error))),
    runInSlot(shop, counter, 1, second.attempt).then(() => order.push('second')),
    runInSlot(shop, counter, 1, () => Promise.resolve('third')).then((what) => order.push(what))
  ]
  second.end(false)
  await new Promise(setImmediate)
  expect(order).toEqual([])
  first.fail()
  await Promise.all(running)
  expect(order).toEqual(['Error: the attempt broke', 'second', 'third'])
})

test('attempts run together up to the points that are left; a failure leaves fewer for those that wait', async () => {
  using shop = openLimited('2/60')
  const attempts = [held(), held(), held()]
  let started = 0
  const answers = attempts.map(({ attempt }) =>
    runCountingFailures(shop, [counter], () => {
      started += 1
      return attempt()
    }).catch((error: { code: string }) => error.code)
  )
  await new Promise(setImmediate)
  expect(started).toBe(2)
  attempts[0]?.end(true)
  attempts[1]?.end(true)
  expect(await Promise.all(answers)).toEqual([{ failed: true }, { failed: true }, 'AUTH_RATE_LIMITED'])
  expect(started).toBe(2)
})

test('256 attempts of a bucket may wait; places are free again when they have run', async () => {
  using shop = openLimited('1/60')
  for (let round = 0; round < 2; round += 1) {
    const first = held()
    const all = [
      first.attempt,
      ...Array<() => Promise<{ failed: boolean }>>(257).fill(() => Promise.resolve({ failed: false }))
    ]
    const answers = all.map((attempt) =>
      runInSlot(shop, counter, 1, attempt).catch((error: { code: string }) => error.code)
    )
    first.end(false)
    const refused = (await Promise.all(answers)).filter((answer) => typeof answer === 'string')
    expect(refused).toEqual(['DEPENDENCY_UNAVAILABLE'])
  }
})

test('nothing is left in memory of a counter whose attempts have ended', async () => {
  using shop = openLimited('9/60')
  const heap = (): number => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const run = async (from: number, count: number): Promise<void> => {
    for (let at = from; at < from + count; at += 1) {
      const key = Buffer.alloc(10_000, `${at} `).toString('latin1')
      await runInSlot(shop, { ...counter, key }, 1, () => Promise.resolve(at))
    }
  }
  await run(0, 100)
  const before = heap()
  await run(100, 2_000)
  // The keys alone are 20 MB.
  expect(heap() - before).toBeLessThan(8_000_000)
})
