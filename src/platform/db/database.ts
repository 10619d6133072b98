import { setImmediate } from 'node:timers'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { AppError } from '../../errors.ts'
import { onceFor } from '../once-for.ts'
import { compareKey } from '../text.ts'
import { planOnce } from './plan-once.ts'

export type Orm = BetterSQLite3Database

/** One open database: `sqlite` for pragmas, transactions and raw SQL, `orm` for typed statements, both on one connection. */
export type Db = { readonly sqlite: Database.Database; readonly orm: Orm }

declare const inTransaction: unique symbol
/** A database inside a write transaction; functions that write ask for one, so that none can run outside. */
export type Tx = Db & { readonly [inTransaction]: true }

const busyTimeoutMs = 5_000

/**
 * How many pages of the write-ahead log are folded in at a time: 16 MB. What is sold one after the other changes the
 * same pages; folded in at SQLite's own 1,000, a sixth of a checkout's time went into writing them again.
 */
export const pagesToFoldIn = 4_000

/**
 * Opens (and creates, unless `mustExist`) the shop's database.
 *
 * busy_timeout comes first, so that switching to WAL waits for another process instead of failing. synchronous is FULL
 * because better-sqlite3's WAL default, NORMAL, may lose an acknowledged order with the power.
 */
export function openDatabase(file: string, options: { mustExist?: boolean; readonly?: boolean } = {}): Db {
  const sqlite = new Database(file, {
    fileMustExist: options.mustExist ?? false,
    readonly: options.readonly ?? false,
    timeout: busyTimeoutMs
  })
  try {
    sqlite.pragma(`busy_timeout = ${busyTimeoutMs}`)
    if (!options.readonly) sqlite.pragma('journal_mode = WAL')
    sqlite.pragma('synchronous = FULL')
    sqlite.pragma('foreign_keys = ON')
    sqlite.pragma('trusted_schema = OFF')
    sqlite.pragma('temp_store = MEMORY')
    sqlite.pragma('cache_size = -32768')
    sqlite.pragma(`wal_autocheckpoint = ${pagesToFoldIn}`)
    if (sqlite.pragma('synchronous', { simple: true }) !== 2) {
      throw new AppError('DEPENDENCY_UNAVAILABLE', 'The database did not accept synchronous = FULL.')
    }
  } catch (error) {
    sqlite.close()
    throw error
  }
  // SQLite's own lower() knows the letters A to Z alone.
  sqlite.function('compare_key', { deterministic: true }, (text) =>
    typeof text === 'string' ? compareKey(text) : null
  )
  planOnce(sqlite)
  return { sqlite, orm: drizzle(sqlite) }
}

/**
 * Runs `work` in one IMMEDIATE transaction and returns its result; whatever it throws rolls everything back. Called
 * inside another write it joins that one as a savepoint. Synchronous by type: an async callback would commit before its
 * work is done.
 */
export function write<T>(db: Db, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): T {
  return transact<unknown>(db.sqlite, () => work(db as Tx)) as T
}

/** The same on a connection by itself. */
export function transact<T>(sqlite: Database.Database, work: () => T): T {
  moment += 1
  try {
    return transacting(sqlite)(work) as T
  } finally {
    moment += 1
  }
}

/** Made once: better-sqlite3 makes eight objects for each function that is to run in a transaction. */
const transacting = onceFor(
  (sqlite: Database.Database) => sqlite.transaction((work: () => unknown) => work()).immediate
)

/** One moment ends where a write of this process begins, where that ends, and with the turn of its event loop. */
let moment = 0
let isEndAwaited = false

/**
 * Reads once what everybody asks for again and again, however many requests one turn of the event loop brings. Nobody
 * can tell: what another process changed before a request was sent is there in the turn that the request arrives in.
 */
export function oncePerTurn<T>(read: (db: Db) => T): (db: Db) => T {
  const known = new WeakMap<Database.Database, { moment: number; value: T }>()
  return (db) => {
    const last = known.get(db.sqlite)
    if (last?.moment === moment) return last.value
    const value = read(db)
    // A write may yet be rolled back, and a snapshot may be of an earlier moment.
    if (db.sqlite.inTransaction) return value
    known.set(db.sqlite, { moment, value })
    awaitEndOfTurn()
    return value
  }
}

function awaitEndOfTurn(): void {
  if (isEndAwaited) return
  isEndAwaited = true
  setImmediate(() => {
    isEndAwaited = false
    moment += 1
  })
}

const begin = onceFor((sqlite: Database.Database) => sqlite.prepare('BEGIN DEFERRED'))
const commit = onceFor((sqlite: Database.Database) => sqlite.prepare('COMMIT'))
/** The connection whose snapshot is being read. */
let reading: Database.Database | undefined

/**
 * Reads several statements from one snapshot; from the third statement on that is also faster, since each by itself
 * would lock the file and look for what is new. Inside a transaction it reads what that one sees. Nothing is written here.
 */
export function readSnapshot<T>(db: Db, work: (db: Db) => T extends PromiseLike<unknown> ? never : T): T {
  if (db.sqlite.inTransaction) return work(db)
  begin(db.sqlite).run()
  const outer = reading
  reading = db.sqlite
  try {
    const read = work(db)
    commit(db.sqlite).run()
    return read
  } catch (error) {
    // Over a disk that fails SQLite ends it by itself.
    if (db.sqlite.inTransaction) commit(db.sqlite).run()
    throw error
  } finally {
    reading = outer
  }
}

/** Whether what is read now may yet be rolled back. */
export function isProvisional({ sqlite }: Db): boolean {
  return sqlite.inTransaction && reading !== sqlite
}

/** True when `error` is SQLite's refusal of a second row under a unique index or primary key. */
export function isUniqueViolation(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError &&
    (error.code === 'SQLITE_CONSTRAINT_UNIQUE' || error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY')
  )
}
