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
  /** Points left now, read at once: no other caller can take one between this answer and what is done with it. */
  left(
    bucket: string,
    key: string,
    limit: { points: number; seconds: number }
  ): { points: number; retryAfterSeconds: number }
  /** Gives points back. */
  reward(bucket: string, key: string, limit: Limit, points?: number): Promise<void>
  close(): void
}

const sweepEveryMs = 10 * 60_000
const allowed: Verdict = { allowed: true, retryAfterSeconds: 0 }

export function openRateLimiter(file: string): RateLimiter {
  const sqlite = new Database(file, { timeout: 5_000 })
  sqlite.pragma('busy_timeout = 5000')
  sqlite.pragma('journal_mode = WAL')
  // Losing the last moments of a counter with the power is harmless.
  sqlite.pragma('synchronous = NORMAL')
  sqlite.exec(
    'CREATE TABLE IF NOT EXISTS rate_limits (key TEXT PRIMARY KEY, points INTEGER NOT NULL DEFAULT 0, expire INTEGER)'
  )
  const stateOf = sqlite.prepare<[string, number], { points: number; expire: number }>(
    'SELECT points, expire FROM rate_limits WHERE key = ? AND expire > ?'
  )
  // A counter whose time is over stays as it is: taking points off it would give the next window more than it has.
  const giveBack = sqlite.prepare<[number, string, number]>(
    'UPDATE rate_limits SET points = max(0, points - ?) WHERE key = ? AND expire > ?'
  )
  const dropExpired = sqlite.prepare<[number]>('DELETE FROM rate_limits WHERE expire <= ?')
  const limiters = new Map<string, RateLimiterSQLite>()
  let sweptAt = Date.now()
  dropExpired.run(sweptAt)

  /** Addresses come and go; without this the file would keep each one for ever. */
  function sweep(): void {
    const now = Date.now()
    if (now - sweptAt < sweepEveryMs) return
    sweptAt = now
    dropExpired.run(now)
  }

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

  const keyOf = (bucket: string, key: string, limit: { points: number; seconds: number }): string =>
    limiterFor(bucket, limit).getKey(key)

  function left(
    bucket: string,
    key: string,
    limit: { points: number; seconds: number }
  ): { points: number; retryAfterSeconds: number } {
    const now = Date.now()
    const state = stateOf.get(keyOf(bucket, key, limit), now)
    if (state === undefined) return { points: limit.points, retryAfterSeconds: 0 }
    return {
      points: Math.max(0, limit.points - state.points),
      retryAfterSeconds: Math.max(1, Math.ceil((state.expire - now) / 1000))
    }
  }

  return {
    async consume(bucket, key, limit, points = 1) {
      if (limit === null) return allowed
      sweep()
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
      const { points, retryAfterSeconds } = left(bucket, key, limit)
      return points > 0 ? allowed : { allowed: false, retryAfterSeconds }
    },
    left,
    async reward(bucket, key, limit, points = 1) {
      if (limit !== null) giveBack.run(points, keyOf(bucket, key, limit), Date.now())
    },
    close: () => void sqlite.close()
  }
}

function refused(state: RateLimiterRes): Verdict {
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(state.msBeforeNext / 1000)) }
}
