import { expect, it } from 'vitest'
import { onceADay } from '../../src/operations/jobs.ts'
import { testClock } from '../support/shop-context.ts'

const hourMs = 60 * 60_000

it('runs an hour after the start, then a day after each success, and tries a failed run again', async () => {
  const clock = testClock()
  const runs: number[] = []
  let isDown = true
  const start = clock.now()
  const run = onceADay(clock, async () => {
    runs.push((clock.now() - start) / hourMs)
    if (isDown) throw new Error('Stripe is down')
  })
  await run(true)
  for (let hour = 1; hour <= 50; hour += 1) {
    clock.advance(hourMs)
    await run(false).catch(() => undefined)
    if (hour === 2) isDown = false
  }
  expect(runs).toEqual([1, 2, 3, 27])
})
