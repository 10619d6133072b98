import { setTimeout as pause } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { isBusy } from './trouble.ts'
import { write } from './database.ts'
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
 * those who came before, and then does all of `work` anew.
 *
 * @throws SqliteError SQLITE_BUSY when the lock is not free in 5 s; nothing has been written then
 */
export function writeWhenFree<T>(db: Db, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): Promise<T> {
  return whenFree(db.sqlite, () => write(db, work))
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
