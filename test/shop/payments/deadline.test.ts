import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { DeadlinePassed, startDeadline } from '../../../src/shop/payments/gateway.ts'

const timeoutOf = (totalMs?: number) => startDeadline(totalMs).call(({ timeout }) => Promise.resolve(timeout))

it('gives a call the remaining time, at most ten seconds', async () => {
  expect(await timeoutOf()).toBe(10_000)
  expect(await timeoutOf(10_500)).toBe(10_000)
  const left = await timeoutOf(9_000)
  expect(left).toBeGreaterThan(7_000)
  expect(left).toBeLessThanOrEqual(9_000)
})

it('subtracts the time of one call from the next', async () => {
  const began = performance.now()
  const deadline = startDeadline(1_000)
  await deadline.call(() => sleep(300))
  const left = await deadline.call(({ timeout }) => Promise.resolve(timeout))
  expect(left).toBeLessThanOrEqual(700)
  expect(left).toBeGreaterThan(700 - (performance.now() - began))
})

it('returns and throws what the call returns and throws', async () => {
  expect(await startDeadline(1_000).call(() => Promise.resolve('done'))).toBe('done')
  await expect(startDeadline(1_000).call(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
})

it('stops a call at the deadline, and starts none after it', async () => {
  const deadline = startDeadline(50)
  await expect(deadline.call(() => sleep(5_000))).rejects.toMatchObject({ name: 'DeadlinePassed' })
  await sleep(10)
  let calls = 0
  await expect(
    deadline.call(() => {
      calls += 1
      return Promise.resolve()
    })
  ).rejects.toBeInstanceOf(DeadlinePassed)
  expect(calls).toBe(0)
})
