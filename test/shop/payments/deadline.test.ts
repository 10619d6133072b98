import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DeadlinePassed, startDeadline } from '../../../src/shop/payments/gateway.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const timeoutOf = (totalMs?: number) => startDeadline(totalMs).call(({ timeout }) => Promise.resolve(timeout))

it('gives a call the remaining time, at most ten seconds', async () => {
  expect(await timeoutOf()).toBe(10_000)
  expect(await timeoutOf(10_500)).toBe(10_000)
  expect(await timeoutOf(9_000)).toBe(9_000)
})

it('subtracts the time of one call from the next', async () => {
  const deadline = startDeadline(1_000)
  await deadline.call(async () => void vi.advanceTimersByTime(300))
  expect(await deadline.call(({ timeout }) => Promise.resolve(timeout))).toBe(700)
})

it('returns and throws what the call returns and throws', async () => {
  expect(await startDeadline(1_000).call(() => Promise.resolve('done'))).toBe('done')
  await expect(startDeadline(1_000).call(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
})

it('stops a call at the deadline, and starts none after it', async () => {
  const deadline = startDeadline(50)
  const stopped = deadline.call(() => new Promise(() => undefined))
  vi.advanceTimersByTime(50)
  await expect(stopped).rejects.toBeInstanceOf(DeadlinePassed)
  let calls = 0
  await expect(
    deadline.call(() => {
      calls += 1
      return Promise.resolve()
    })
  ).rejects.toBeInstanceOf(DeadlinePassed)
  expect(calls).toBe(0)
})
