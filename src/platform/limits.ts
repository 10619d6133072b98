import Database from 'better-sqlite3'
import { RateLimiterRes, RateLimiterSQLite } from 'rate-limiter-flexible'
import { disableBusyTimeout, whenFree } from './db/busy.ts'

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

/** More counters than a shop has customers in an hour; whoever has that many addresses does not fill the disk with them. */
const maxCounters = 100_000
const tidyEveryMs = 60_000
const tidyEveryTimes = 100
/** How many counters are looked at in one go; nobody is kept waiting by it. */
const lookAt = 400
const allowed: Verdict = { allowed: true, retryAfterSeconds: 0 }

export function openRateLimiter(file: string, options: { maxCounters?: number } = {}): RateLimiter {
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
  // A window that ends later than any can was begun by a clock that was ahead: it would last until then.
  const shorten = sqlite.prepare<[number, string]>('UPDATE rate_limits SET expire = ? WHERE key = ?')
  const tidy = createTidying(sqlite, options.maxCounters ?? maxCounters)
  const store = keepingStatements(sqlite)
  disableBusyTimeout(sqlite)
  const limiters = new Map<string, RateLimiterSQLite>()

  function limiterFor(bucket: string, limit: { points: number; seconds: number }): RateLimiterSQLite {
    const name = `${bucket}:${limit.points}/${limit.seconds}`
    const known = limiters.get(name)
    if (known !== undefined) return known
    const fresh = new RateLimiterSQLite({
      storeClient: store,
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
    const latest = now + limit.seconds * 1000
    if (state.expire > latest) shorten.run(latest, keyOf(bucket, key, limit))
    return {
      points: Math.max(0, limit.points - state.points),
      retryAfterSeconds: Math.max(1, Math.ceil((Math.min(state.expire, latest) - now) / 1000))
    }
  }

  return {
    async consume(bucket, key, limit, points = 1) {
      if (limit === null) return allowed
      try {
        await whenFree(sqlite, () => {
          tidy()
          // For what it mends: a window of a clock that was ahead.
          left(bucket, key, limit)
          return limiterFor(bucket, limit).consume(key, points)
        })
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
      if (limit !== null) await whenFree(sqlite, () => giveBack.run(points, keyOf(bucket, key, limit), Date.now()))
    },
    close: () => void sqlite.close()
  }
}

/**
 * The database as rate-limiter-flexible uses it, which prepares its one statement anew for each point: ten times the
 * work, and memory that is given back only when the garbage collector, which cannot see it, comes by.
 */
function keepingStatements(sqlite: Database.Database): Pick<Database.Database, 'prepare' | 'transaction'> {
  const kept = new Map<string, Database.Statement>()
  const prepare = (source: string): Database.Statement => {
    const statement = kept.get(source) ?? sqlite.prepare(source)
    kept.set(source, statement)
    return statement
  }
  // One statement is a transaction of its own.
  return { prepare, transaction: (work: unknown) => work } as Pick<Database.Database, 'prepare' | 'transaction'>
}

/**
 * Addresses come and go; without this the file would keep each one for ever. Every so often it goes a little way through
 * the counters, round and round, and drops those whose time is over. When there are still too many, because somebody
 * sends from more addresses than a shop has customers, it drops those that count least: whoever is near his limit stays.
 */
function createTidying(sqlite: Database.Database, most: number): () => void {
  const count = sqlite.prepare<[], number>('SELECT count(*) FROM rate_limits').pluck()
  const look = sqlite.prepare<[number, number], { found: number; end: number | null }>(`
    SELECT count(*) AS found, max(rowid) AS end
    FROM (SELECT rowid FROM rate_limits WHERE rowid > ? ORDER BY rowid LIMIT ?)`)
  const dropExpired = sqlite.prepare<[number, number, number]>(
    'DELETE FROM rate_limits WHERE rowid > ? AND rowid <= ? AND expire <= ?'
  )
  const dropLeast = sqlite.prepare<[number, number, number]>(`
    DELETE FROM rate_limits WHERE rowid IN (
      SELECT rowid FROM rate_limits WHERE rowid > ? AND rowid <= ? ORDER BY points, expire LIMIT ?)`)
  let behind = 0
  let times = 0
  let tidiedAt = 0

  const goOn = sqlite.transaction((now: number) => {
    const { found = 0, end = null } = look.get(behind, lookAt) ?? {}
    if (end !== null) {
      dropExpired.run(behind, end, now)
      const tooMany = (count.get() ?? 0) - most
      // Half of them at most, so that it is never all that happen to stand together.
      if (tooMany > 0) dropLeast.run(behind, end, Math.min(tooMany, Math.ceil(found / 2)))
    }
    behind = end === null || found < lookAt ? 0 : end
  })

  return () => {
    const now = Date.now()
    times += 1
    if (times < tidyEveryTimes && now - tidiedAt < tidyEveryMs) return
    times = 0
    tidiedAt = now
    goOn.immediate(now)
  }
}

function refused(state: RateLimiterRes): Verdict {
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(state.msBeforeNext / 1000)) }
}
