import { setTimeout as pause } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { isBusy } from './storage-errors.ts'
import { transact } from './database.ts'
import type { Db, Tx } from './database.ts'

const retryEveryMs = 2

/** How long the writes of a connection wait for another process's lock. */
const lockTimeouts = new WeakMap<Database.Database, number>()

/** The end of each database's queue: resolves when the last write in it is done. */
const queues = new WeakMap<Database.Database, Promise<void>>()

/**
 * Makes SQLite report a held lock immediately. Waiting inside SQLite blocks the event loop; `writeWhenFree` waits outside
 * it for as long, so a server's reads go on while its writes wait for another process.
 */
export function disableBusyTimeout(sqlite: Database.Database): void {
  if (lockTimeouts.has(sqlite)) return
  lockTimeouts.set(sqlite, Number(sqlite.pragma('busy_timeout', { simple: true })))
  sqlite.pragma('busy_timeout = 0')
}

/**
 * Like `write`, without blocking the event loop: while another process holds the lock, the write waits in a queue and
 * then runs `work` again. Writes of one turn of the event loop share one transaction (group commit), each in a savepoint
 * of its own, so they share one fsync. A write resolves after that transaction is committed.
 *
 * @throws SqliteError SQLITE_BUSY when the lock is not free within the connection's busy timeout; nothing is written then
 */
export function writeWhenFree<T>(db: Db, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): Promise<T> {
  return writeThisTurn<unknown>(db.sqlite, () => work(db as Tx)) as Promise<T>
}

/** Like `writeWhenFree`, on a plain connection. */
export function writeThisTurn<T>(sqlite: Database.Database, work: () => T): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const pending: Pending = { work, resolve: resolve as (value: unknown) => void, reject }
  const ofThisTurn = gathered.get(sqlite)
  if (ofThisTurn === undefined) {
    gathered.set(sqlite, [pending])
    setImmediate(() => void writeGathered(sqlite))
  } else ofThisTurn.push(pending)
  return promise
}

type Pending = { work: () => unknown; resolve: (value: unknown) => void; reject: (error: unknown) => void }

const gathered = new WeakMap<Database.Database, Pending[]>()
/** Reads run between one batch and the next. */
const batchSize = 32

async function writeGathered(sqlite: Database.Database): Promise<void> {
  const all = gathered.get(sqlite) ?? []
  const batch = all.splice(0, batchSize)
  if (all.length === 0) gathered.delete(sqlite)
  else setImmediate(() => void writeGathered(sqlite))
  const [only] = batch
  if (batch.length === 1 && only !== undefined) await writeAlone(sqlite, only)
  else await writeTogether(sqlite, batch)
}

async function writeAlone(sqlite: Database.Database, { work, resolve, reject }: Pending): Promise<void> {
  try {
    resolve(await whenFree(sqlite, () => transact(sqlite, work)))
  } catch (error) {
    reject(error)
  }
}

async function writeTogether(sqlite: Database.Database, batch: readonly Pending[]): Promise<void> {
  const writeAll = (): Outcome[] => transact(sqlite, () => batch.map(({ work }) => attempted(sqlite, work)))
  try {
    for (const [index, outcome] of (await whenFree(sqlite, writeAll)).entries()) {
      if ('error' in outcome) batch[index]?.reject(outcome.error)
      else batch[index]?.resolve(outcome.value)
    }
  } catch (error) {
    if (isBusy(error)) for (const { reject } of batch) reject(error)
    // One of the writes may have failed them all, for example a row that does not fit on the disk.
    else for (const pending of batch) await writeAlone(sqlite, pending)
  }
}

type Outcome = { value: unknown } | { error: unknown }

/** Runs one write in a savepoint; its failure rolls back that write only. */
function attempted(sqlite: Database.Database, work: () => unknown): Outcome {
  try {
    return { value: transact(sqlite, work) }
  } catch (error) {
    // Some failures end the whole transaction; the next write would then run without one.
    if (!sqlite.inTransaction) throw error
    return { error }
  }
}

/**
 * Runs `attempt`, and runs it again while another process holds the lock. An attempt that SQLite refuses must not have
 * had any effect.
 *
 * @throws SqliteError SQLITE_BUSY when the lock is not free within the connection's busy timeout
 */
export async function whenFree<T>(sqlite: Database.Database, attempt: () => T | Promise<T>): Promise<T> {
  const until = performance.now() + (lockTimeouts.get(sqlite) ?? 0)
  if (queues.has(sqlite)) return waitInQueue(sqlite, until, attempt)
  try {
    return await attempt()
  } catch (error) {
    // On a connection with a busy timeout (a command's), SQLite itself has waited by now.
    if (!isBusy(error) || performance.now() >= until) throw error
    return waitInQueue(sqlite, until, attempt)
  }
}

/** Only the first in the queue retries, however many wait. */
async function waitInQueue<T>(sqlite: Database.Database, until: number, attempt: () => T | Promise<T>): Promise<T> {
  const ahead = queues.get(sqlite)
  const mine = Promise.withResolvers<void>()
  queues.set(sqlite, mine.promise)
  try {
    await ahead
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (!isBusy(error) || performance.now() >= until) throw error
        await pause(retryEveryMs)
      }
    }
  } finally {
    if (queues.get(sqlite) === mine.promise) queues.delete(sqlite)
    mine.resolve()
  }
}
