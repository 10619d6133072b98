import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRateLimiter } from '../../src/platform/limits.ts'
import type { RateLimiter } from '../../src/platform/limits.ts'

const limit = { points: 3, seconds: 60 }
let folder: string
let file: string
let limiter: RateLimiter

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shopstead-limits-'))
  file = join(folder, 'limits.db')
  limiter = openRateLimiter(file)
})
afterEach(() => {
  limiter.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Ends every window by setting its expiry to the past. */
function endWindows(): void {
  const sqlite = new Database(file)
  sqlite.prepare('UPDATE rate_limits SET expire = ?').run(Date.now() - 1)
  sqlite.close()
}

function keys(): unknown[] {
  const sqlite = new Database(file, { readonly: true })
  const found = sqlite.prepare('SELECT key FROM rate_limits').pluck().all()
  sqlite.close()
  return found
}

describe('a rate limiter', () => {
  it('allows the points of its limit and then reports how long to wait', async () => {
    for (let index = 0; index < 3; index += 1) expect((await limiter.consume('b', 'k', limit)).allowed).toBe(true)
    expect(await limiter.consume('b', 'k', limit)).toEqual({ allowed: false, retryAfterSeconds: 60 })
    expect(limiter.left('b', 'k', limit)).toEqual({ points: 0, retryAfterSeconds: 60 })
  })

  it('allows the networks of one /48 sixteen times the points of a /64', async () => {
    const network = (index: number) => `2001:db8:1:${index.toString(16)}::/64`
    for (let index = 0; index < 15; index += 1) await limiter.consume('b', network(index), limit, 3)
    expect(limiter.left('b', network(16), limit).points).toBe(3)
    expect(await limiter.consume('b', network(16), limit, 2)).toMatchObject({ allowed: true })
    expect(limiter.left('b', network(17), limit).points).toBe(1)
    expect(await limiter.consume('b', network(17), limit, 2)).toEqual({ allowed: false, retryAfterSeconds: 60 })
    expect(limiter.left('b', network(18), limit)).toEqual({ points: 0, retryAfterSeconds: 60 })
    expect(limiter.left('b', '2001:db8:2:0::/64', limit).points).toBe(3)
  })

  it('does not count what a /64 is refused for its /48', async () => {
    for (let index = 0; index < 30; index += 1) await limiter.consume('b', '2001:db8:1:2::/64', limit, 3)
    expect(limiter.left('b', '2001:db8:1:3::/64', limit).points).toBe(3)
  })

  it('counts each bucket and key separately', async () => {
    await limiter.consume('b', 'k', limit, 3)
    expect(limiter.left('b', 'other', limit).points).toBe(3)
    expect(limiter.left('other', 'k', limit).points).toBe(3)
  })

  it('allows no more than its points to concurrent requests', async () => {
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => limiter.consume('b', 'k', limit)))
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(3)
  })

  it('keeps its counts after a restart', async () => {
    await limiter.consume('b', 'k', limit, 3)
    limiter.close()
    limiter = openRateLimiter(file)
    expect((await limiter.consume('b', 'k', limit)).allowed).toBe(false)
    expect((await limiter.consume('b', 'other', limit)).allowed).toBe(true)
  })

  it('starts a new window after the last one ends', async () => {
    await limiter.consume('b', 'k', limit, 3)
    endWindows()
    expect(limiter.left('b', 'k', limit).points).toBe(3)
    expect((await limiter.consume('b', 'k', limit)).allowed).toBe(true)
  })

  it('deletes counters whose window has ended', async () => {
    await limiter.consume('b', 'k', limit)
    endWindows()
    limiter.close()
    limiter = openRateLimiter(file)
    await limiter.consume('b', 'other', limit)
    expect(keys()).toEqual(['b:other'])
  })

  it('deletes the counters with the fewest points when there are too many', async () => {
    limiter.close()
    limiter = openRateLimiter(file, { maxCounters: 50 })
    await limiter.consume('b', 'guesser', limit, 3)
    for (let index = 0; index < 2_000; index += 1) await limiter.consume('b', `passer-by ${index}`, limit)
    expect(keys().length).toBeLessThanOrEqual(150)
    expect(limiter.left('b', 'guesser', limit).points).toBe(0)
  })

  it('uses no more memory after many requests', async () => {
    const before = process.memoryUsage.rss()
    for (let index = 0; index < 20_000; index += 1) await limiter.consume('b', 'k', limit)
    expect((process.memoryUsage.rss() - before) / 2 ** 20).toBeLessThan(60)
  })
})
