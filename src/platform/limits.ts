import Database from 'better-sqlite3'
import { disableBusyTimeout, whenFree } from './db/database.ts'
import { widerNetwork } from './http/client-address.ts'

/** Points per fixed window; a window begins when a point is taken and no other is open. */
export type Limit = { points: number; seconds: number }

/**
 * Counts points per bucket and key, in a database file of its own. Counts survive a restart. A point of an IPv6 /64
 * network also counts for its /48, which has `wideShare` times the allowance: a provider may give one customer a /48 with
 * 65,536 networks, or one network each to many customers.
 */
export type RateLimiter = {
  /** Takes points, also past the limit. `retryAfterSeconds` says when the window ends; 0 when it is allowed. */
  consume(
    bucket: string,
    key: string,
    limit: Limit,
    points?: number
  ): Promise<{ allowed: boolean; retryAfterSeconds: number }>
  /** Points that are left now. Synchronous: no other request runs between this and what the caller does with it. */
  left(bucket: string, key: string, limit: Limit): { points: number; retryAfterSeconds: number }
  /** Counts one more for a key, without a limit; its window lasts for so long. */
  count(bucket: string, key: string, seconds: number): Promise<void>
  /** The sum of all open counters of a bucket, and the one with the most points; undefined if none is open. */
  largest(bucket: string): { key: string; points: number; sum: number } | undefined
  close(): void
}

const wideShare = 16

/** A flood from many addresses must not fill the disk: 100,000 counters take about 10 MB. */
const defaultMaxCounters = 100_000
const tidyEveryMs = 60_000
const tidyEveryTimes = 100
/** Ten for each counter that can have been added since the last time, without holding up a request. */
const expiredAtOnce = 1_000

type Count = { points: number; expire: number }

/**
 * Opens the counters in `file`, which is created when missing. The file is separate from the shop's database so that a
 * counter does not cost an fsync.
 *
 * @throws SqliteError when the file cannot be opened
 */
export function openRateLimiter(file: string, options: { maxCounters?: number } = {}): RateLimiter {
  const sqlite = new Database(file, { timeout: 5_000 })
  sqlite.pragma('journal_mode = WAL')
  // A power cut may lose the last moments of a counter, which is harmless.
  sqlite.pragma('synchronous = NORMAL')
  sqlite.exec(`
    CREATE TABLE IF NOT EXISTS rate_limits (key TEXT PRIMARY KEY, points INTEGER NOT NULL DEFAULT 0, expire INTEGER);
    CREATE INDEX IF NOT EXISTS rate_limits_expire ON rate_limits (expire)`)
  // min(): a window that ends later than it can was opened while the clock was ahead, and would last until then.
  const take = sqlite.prepare<{ key: string; points: number; now: number; end: number }, Count>(`
    INSERT INTO rate_limits (key, points, expire) VALUES (:key, :points, :end)
    ON CONFLICT (key) DO UPDATE SET
      points = CASE WHEN expire > :now THEN points + :points ELSE :points END,
      expire = CASE WHEN expire > :now THEN min(expire, :end) ELSE :end END
    RETURNING points, expire`)
  const find = sqlite.prepare<[string, number], Count>(
    'SELECT points, expire FROM rate_limits WHERE key = ? AND expire > ?'
  )
  const shorten = sqlite.prepare<[number, string]>('UPDATE rate_limits SET expire = ? WHERE key = ?')
  // `;` follows `:`, so this is the range of one bucket.
  const findLargest = sqlite.prepare<
    { from: string; to: string; now: number },
    { key: string; points: number; sum: number }
  >(`
    SELECT key, points, sum(points) OVER () AS sum FROM rate_limits
     WHERE key >= :from AND key < :to AND expire > :now ORDER BY points DESC, key LIMIT 1`)
  const tidy = createTidying(sqlite, options.maxCounters ?? defaultMaxCounters)
  disableBusyTimeout(sqlite)

  const takeOne = (bucket: string, key: string, seconds: number, points: number) =>
    whenFree(sqlite, () => {
      const now = Date.now()
      tidy(now)
      return { now, count: take.get({ key: `${bucket}:${key}`, points, now, end: now + seconds * 1000 }) }
    })
  const consumeOne = async (bucket: string, key: string, limit: Limit, points: number) => {
    const { now, count } = await takeOne(bucket, key, limit.seconds, points)
    const allowed = count === undefined || count.points <= limit.points
    return { allowed, retryAfterSeconds: allowed ? 0 : secondsUntil(count.expire, now) }
  }
  const leftOf = (bucket: string, key: string, limit: Limit) => {
    const now = Date.now()
    const count = find.get(`${bucket}:${key}`, now)
    if (count === undefined) return { points: limit.points, retryAfterSeconds: 0 }
    const latest = now + limit.seconds * 1000
    if (count.expire > latest) shorten.run(latest, `${bucket}:${key}`)
    return {
      points: Math.max(0, limit.points - count.points),
      retryAfterSeconds: secondsUntil(Math.min(count.expire, latest), now)
    }
  }

  return {
    async consume(bucket, key, limit, points = 1) {
      const taken = await consumeOne(bucket, key, limit, points)
      const wide = widerNetwork(key)
      if (wide === undefined || !taken.allowed) return taken
      return consumeOne(bucket, wide, wideLimit(limit), points)
    },
    left(bucket, key, limit) {
      const own = leftOf(bucket, key, limit)
      const wide = widerNetwork(key)
      if (wide === undefined || own.points === 0) return own
      const around = leftOf(bucket, wide, wideLimit(limit))
      return around.points < own.points ? around : own
    },
    async count(bucket, key, seconds) {
      await takeOne(bucket, key, seconds, 1)
    },
    largest(bucket) {
      const found = findLargest.get({ from: `${bucket}:`, to: `${bucket};`, now: Date.now() })
      return found && { ...found, key: found.key.slice(bucket.length + 1) }
    },
    close: () => void sqlite.close()
  }
}

/**
 * Deletes expired counters now and then. When there are still more than `most`, deletes those with the fewest points: a
 * client near its limit keeps its count, however many others send one request each.
 */
function createTidying(sqlite: Database.Database, most: number): (now: number) => void {
  const dropExpired = sqlite.prepare<[number, number]>(
    'DELETE FROM rate_limits WHERE rowid IN (SELECT rowid FROM rate_limits WHERE expire <= ? LIMIT ?)'
  )
  const dropLeast = sqlite.prepare<[number]>(
    'DELETE FROM rate_limits WHERE rowid IN (SELECT rowid FROM rate_limits ORDER BY points, expire LIMIT ?)'
  )
  const countAll = sqlite.prepare<[], number>('SELECT count(*) FROM rate_limits').pluck()
  let times = 0
  let tidiedAt = 0
  return (now) => {
    times += 1
    if (times < tidyEveryTimes && now - tidiedAt < tidyEveryMs) return
    times = 0
    tidiedAt = now
    dropExpired.run(now, expiredAtOnce)
    const tooMany = (countAll.get() ?? 0) - most
    // A twentieth at a time, so that a flood does not sort all of them again for every hundred requests.
    if (tooMany > 0) dropLeast.run(Math.max(tooMany, Math.floor(most / 20)))
  }
}

function wideLimit({ points, seconds }: Limit): Limit {
  return { points: points * wideShare, seconds }
}

function secondsUntil(end: number, now: number): number {
  return Math.max(1, Math.ceil((end - now) / 1000))
}
