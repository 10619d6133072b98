import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { LogFields } from '../../src/platform/log.ts'
import { clientLog } from '../../src/platform/log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A logger and the lines that were written with it. */
function recorder() {
  const lines: [string, LogFields | undefined][] = []
  const write = (message: string, fields?: LogFields) => void lines.push([message, fields])
  return { lines, log: { warn: write, error: write } }
}

it('writes a line once, and after a minute how often it was repeated', () => {
  const { log, lines } = recorder()
  const fail = (requestId: string) =>
    clientLog(log).error('a request failed', { requestId, path: '/auth/login', code: 'DEPENDENCY_UNAVAILABLE' })
  for (let index = 0; index < 1_000; index += 1) fail(`req_${index}`)
  const common = { path: '/auth/login', code: 'DEPENDENCY_UNAVAILABLE' }
  expect(lines).toEqual([['a request failed', { requestId: 'req_0', ...common }]])
  vi.advanceTimersByTime(60_000)
  expect(lines.slice(1)).toEqual([['a request failed', { ...common, times: 999 }]])
  fail('req_later')
  expect(lines.slice(2)).toEqual([['a request failed', { requestId: 'req_later', ...common }]])
  vi.advanceTimersByTime(60_000)
  expect(lines).toHaveLength(3)
})

it('does not count a line together with one of another route, code or error', () => {
  const { log, lines } = recorder()
  for (const error of ['disk full', 'no such table']) clientLog(log).error('a request failed', { path: '/me', error })
  clientLog(log).error('a request failed', { path: '/orders', error: 'disk full' })
  expect(lines).toHaveLength(3)
})

it('writes at most 100 different lines and one count for the others in a minute', () => {
  const { log, lines } = recorder()
  for (let index = 0; index < 10_000; index += 1)
    clientLog(log).warn('a request was refused', { reason: `no. ${index}` })
  expect(lines).toHaveLength(100)
  vi.advanceTimersByTime(60_000)
  expect(lines.slice(100)).toEqual([['further lines about failed requests were left out', { times: 9_900 }]])
})
