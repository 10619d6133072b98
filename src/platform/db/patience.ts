import { setTimeout as pause } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { isBusy } from './trouble.ts'
import { transact } from './database.ts'
import type { Db, Tx } from './database.ts'

/** How long a write waits for another process's lock, as long as SQLite itself would. */
const patienceMs = 5_000
const lookEveryMs = 10

/** Who waits last for each database's lock; the others wait before him. */
const lines = new WeakMap<Database.Database, Promise<void>>()

/**
 * Lets nobody wait inside SQLite any more, where everybody would wait along: a server's reads go on while its writes
 * wait for another process.
 */
export function neverBlock(sqlite: Database.Database): void {
  sqlite.pragma('busy_timeout = 0')
}

/**
 * As `write`, for whoever must not keep others waiting: while another process holds the lock it waits aside, behind
 * those who came before, and then does all of `work` anew. What several ask for in one turn of the event loop is
 * written by one transaction, each in a savepoint of its own, so that they share the way to the disk; none is told of
 * its success before that transaction is there.
 *
 * @throws SqliteError SQLITE_BUSY when the lock is not free in 5 s; nothing has been written then
 */
export function writeWhenFree<T>(db: Db, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): Promise<T> {
  return writeThisTurn<unknown>(db.sqlite, () => work(db as Tx)) as Promise<T>
}

/** The same on a connection by itself. */
export function writeThisTurn<T>(sqlite: Database.Database, work: () => T): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const wanted: Wanted = { work, resolve: resolve as (value: unknown) => void, reject }
  const ofThisTurn = gathered.get(sqlite)
  if (ofThisTurn === undefined) {
    gathered.set(sqlite, [wanted])
    setImmediate(() => void writeGathered(sqlite))
  } else ofThisTurn.push(wanted)
  return promise
}

type Wanted = { work: () => unknown; resolve: (value: unknown) => void; reject: (error: unknown) => void }

const gathered = new WeakMap<Database.Database, Wanted[]>()
/** Reads go on between one lot and the next. */
const mostTogether = 32

async function writeGathered(sqlite: Database.Database): Promise<void> {
  const all = gathered.get(sqlite) ?? []
  const lot = all.splice(0, mostTogether)
  if (all.length === 0) gathered.delete(sqlite)
  else setImmediate(() => void writeGathered(sqlite))
  const [only] = lot
  if (lot.length === 1 && only !== undefined) await writeAlone(sqlite, only)
  else await writeTogether(sqlite, lot)
}

async function writeAlone(sqlite: Database.Database, { work, resolve, reject }: Wanted): Promise<void> {
  try {
    resolve(await whenFree(sqlite, () => transact(sqlite, work)))
  } catch (error) {
    reject(error)
  }
}

async function writeTogether(sqlite: Database.Database, lot: readonly Wanted[]): Promise<void> {
  const writeAll = (): Outcome[] => transact(sqlite, () => lot.map(({ work }) => attempted(sqlite, work)))
  try {
    for (const [index, outcome] of (await whenFree(sqlite, writeAll)).entries()) {
      if ('error' in outcome) lot[index]?.reject(outcome.error)
      else lot[index]?.resolve(outcome.value)
    }
  } catch (error) {
    if (isBusy(error)) for (const { reject } of lot) reject(error)
    // What undid all of them may be the fault of one, such as a row for which the disk has no room.
    else for (const wanted of lot) await writeAlone(sqlite, wanted)
  }
}

type Outcome = { value: unknown } | { error: unknown }

/** What one piece of work comes to; its failure takes back what it did itself. */
function attempted(sqlite: Database.Database, work: () => unknown): Outcome {
  try {
    return { value: transact(sqlite, work) }
  } catch (error) {
    // After some failures nothing is left of the transaction, and what came next would be written without one.
    if (!sqlite.inTransaction) throw error
    return { error }
  }
}

/** Does `attempt`, again and again while the database is locked; what it did before SQLite refused must be nothing. */
export async function whenFree<T>(sqlite: Database.Database, attempt: () => T | Promise<T>): Promise<T> {
  const until = performance.now() + patienceMs
  if (lines.has(sqlite)) return waitInLine(sqlite, until, attempt)
  try {
    return await attempt()
  } catch (error) {
    // A command has waited inside SQLite by now.
    if (!isBusy(error) || performance.now() >= until) throw error
    return waitInLine(sqlite, until, attempt)
  }
}

/** One of those who wait looks whether the lock is free, however many they are. */
async function waitInLine<T>(sqlite: Database.Database, until: number, attempt: () => T | Promise<T>): Promise<T> {
  const ahead = lines.get(sqlite)
  const mine = Promise.withResolvers<void>()
  lines.set(sqlite, mine.promise)
  try {
    await ahead
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (!isBusy(error) || performance.now() >= until) throw error
        await pause(lookEveryMs)
      }
    }
  } finally {
    if (lines.get(sqlite) === mine.promise) lines.delete(sqlite)
    mine.resolve()
  }
}
