import Database from 'better-sqlite3'
import { RateLimiterRes, RateLimiterSQLite } from 'rate-limiter-flexible'

export type Limit = { points: number; seconds: number } | null

export type Verdict = { allowed: boolean; retryAfterSeconds: number }

/** Counts per bucket and key, kept over a restart in a file of its own, so that no checkout pays a second fsync. */
export type RateLimiter = {
  /** Takes points and tells whether there were enough. A null limit always allows. */
  consume(bucket: string, key: string, limit: Limit, points?: number): Promise<Verdict>
  /** Looks without taking. */
  peek(bucket: string, key: string, limit: Limit): Promise<Verdict>
  /** Gives points back. */
  reward(bucket: string, key: string, limit: Limit, points?: number): Promise<void>
  close(): void
}

const allowed: Verdict = { allowed: true, retryAfterSeconds: 0 }

export function openRateLimiter(file: string): RateLimiter {
  const sqlite = new Database(file, { timeout: 5_000 })
  sqlite.pragma('busy_timeout = 5000')
  sqlite.pragma('journal_mode = WAL')
  // Losing the last moments of a counter with the power is harmless.
  sqlite.pragma('synchronous = NORMAL')
  sqlite.exec('CREATE TABLE IF NOT EXISTS rate_limits (key TEXT PRIMARY KEY, points INTEGER NOT NULL DEFAULT 0, expire INTEGER)')
  const limiters = new Map<string, RateLimiterSQLite>()

  function limiterFor(bucket: string, limit: { points: number; seconds: number }): RateLimiterSQLite {
    const name = `${bucket}:${limit.points}/${limit.seconds}`
    const known = limiters.get(name)
    if (known !== undefined) return known
    const fresh = new RateLimiterSQLite({
      storeClient: sqlite,
      storeType: 'better-sqlite3',
      tableName: 'rate_limits',
      tableCreated: true,
      keyPrefix: bucket,
      points: limit.points,
      duration: limit.seconds
    })
    limiters.set(name, fresh)
    return fresh
  }

  return {
    async consume(bucket, key, limit, points = 1) {
      if (limit === null) return allowed
      try {
        await limiterFor(bucket, limit).consume(key, points)
        return allowed
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return refused(refusal)
        throw refusal
      }
    },
    async peek(bucket, key, limit) {
      if (limit === null) return allowed
      const state = await limiterFor(bucket, limit).get(key)
      return state === null || state.consumedPoints < limit.points ? allowed : refused(state)
    },
    async reward(bucket, key, limit, points = 1) {
      if (limit !== null) await limiterFor(bucket, limit).reward(key, points)
    },
    close: () => void sqlite.close()
  }
}

function refused(state: RateLimiterRes): Verdict {
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(state.msBeforeNext / 1000)) }
}
