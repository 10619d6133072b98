import Database from 'better-sqlite3'
import { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { BetterSQLiteSession } from 'drizzle-orm/better-sqlite3/session'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { AppError } from '../../errors.ts'
import { syncToDisk } from '../files.ts'
import { onceFor } from '../once-for.ts'
import { emailKey } from '../email-key.ts'
import { foldWord, signTokens, spellingWords } from '../search-text.ts'
import { compareKey } from '../text.ts'
import { endPeriod } from './once-per-turn.ts'

export type Orm = BetterSQLite3Database

/** An open database. `sqlite` (pragmas, transactions, raw SQL) and `orm` (typed statements) share one connection. */
export type Db = { readonly sqlite: Database.Database; readonly orm: Orm }

declare const inTransaction: unique symbol
/** A database inside a write transaction. Functions that write require it, so they cannot run outside one. */
export type Tx = Db & { readonly [inTransaction]: true }

/**
 * The size of the write-ahead log, in pages, at which SQLite checkpoints it: 16 MB. Consecutive orders change the same
 * pages; with SQLite's default of 1,000, rewriting them took a sixth of the time of a checkout.
 */
export const checkpointPages = 4_000

type DatabaseOptions = {
  mustExist?: boolean
  readonly?: boolean
  /** How long to wait for another process's lock; 5 s by default. */
  lockTimeoutMs?: number | undefined
}

/**
 * Opens the shop's database and creates it unless `mustExist`.
 *
 * busy_timeout comes first, so that the switch to WAL waits for another process instead of failing. synchronous is FULL
 * because better-sqlite3's default for WAL, NORMAL, can lose an acknowledged order in a power cut.
 *
 * @throws SqliteError when the file does not open; AppError DEPENDENCY_UNAVAILABLE when SQLite does not accept
 *   synchronous = FULL
 */
export function openDatabase(file: string, options: DatabaseOptions = {}): Db {
  const { lockTimeoutMs = 5_000 } = options
  const sqlite = new Database(file, {
    fileMustExist: options.mustExist ?? false,
    readonly: options.readonly ?? false,
    timeout: lockTimeoutMs
  })
  try {
    sqlite.pragma(`busy_timeout = ${lockTimeoutMs}`)
    if (!options.readonly) sqlite.pragma('journal_mode = WAL')
    sqlite.pragma('synchronous = FULL')
    sqlite.pragma('foreign_keys = ON')
    sqlite.pragma('trusted_schema = OFF')
    sqlite.pragma('temp_store = MEMORY')
    // What is deleted is overwritten: an erased person must not stay in free pages.
    sqlite.pragma('secure_delete = ON')
    sqlite.pragma('cache_size = -32768')
    sqlite.pragma(`wal_autocheckpoint = ${checkpointPages}`)
    if (sqlite.pragma('synchronous', { simple: true }) !== 2) {
      throw new AppError('DEPENDENCY_UNAVAILABLE', 'The database did not accept synchronous = FULL.')
    }
  } catch (error) {
    sqlite.close()
    throw error
  }
  addTextFunctions(sqlite)
  return { sqlite, orm: ormOf(sqlite) }
}

/**
 * Writes each value behind a unary plus, where SQLite's planner does not look at it. better-sqlite3 compiles SQLite with
 * STAT4, and such a build plans a statement again whenever a value is bound that might change the best plan
 * (https://sqlite.org/c3ref/prepare.html): GET /orders took three times as long. Raw SQL that runs often writes the plus
 * itself. A partial index is used only where a statement spells its condition out.
 */
class PlannedOnce extends SQLiteSyncDialect {
  override escapeParam(): string {
    return '+?'
  }
}

function ormOf(sqlite: Database.Database): Orm {
  const dialect = new PlannedOnce()
  return new BetterSQLite3Database('sync', dialect, new BetterSQLiteSession(sqlite, dialect, undefined), undefined)
}

/** Functions for comparing and searching texts; statements and migrations use them. Null stays null. */
function addTextFunctions(sqlite: Database.Database): void {
  const add = (name: string, work: (text: string) => string): void => {
    sqlite.function(name, { deterministic: true }, (text) => (typeof text === 'string' ? work(text) : null))
  }
  // SQLite's lower() changes only the letters A to Z.
  add('compare_key', compareKey)
  add('email_key', emailKey)
  add('fold_word', foldWord)
  add('spelling_words', (text) => JSON.stringify(spellingWords(text)))
  sqlite.function('sign_tokens', { deterministic: true }, (mark, text) =>
    signTokens(String(text))
      .map((token) => String(mark) + token)
      .join(' ')
  )
}

/**
 * Runs `work` in one IMMEDIATE transaction and returns its result; an exception rolls the transaction back. Inside
 * another write it runs as a savepoint. The type rejects an async callback, which would commit before its work is done.
 *
 * @throws SqliteError SQLITE_BUSY when another process holds the lock past the busy timeout
 */
export function write<T>(db: Db, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): T {
  return transact<unknown>(db.sqlite, () => work(db as Tx)) as T
}

/** The size of the log at which `writeUnsynced` checkpoints it, in pages: 2 MB. */
const unsyncedCheckpointPages = 500

/**
 * Like `write`, without waiting for the disk. After a power cut the database is intact, but this write may be missing;
 * `syncWrites` makes sure that it is not. For work that can be repeated, whose wait would hold the lock before checkouts.
 *
 * It checkpoints early, so that many such writes are copied in small steps, and a checkout never has to wait until 16 MB
 * of them are copied.
 */
export function writeUnsynced<T>(db: Db, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): T {
  db.sqlite.pragma('synchronous = NORMAL')
  db.sqlite.pragma(`wal_autocheckpoint = ${unsyncedCheckpointPages}`)
  try {
    return write(db, work)
  } finally {
    db.sqlite.pragma('synchronous = FULL')
    db.sqlite.pragma(`wal_autocheckpoint = ${checkpointPages}`)
  }
}

/** Syncs to disk what `writeUnsynced` has written. */
export function syncWrites({ sqlite }: Db): void {
  syncToDisk(`${sqlite.name}-wal`)
}

/** Like `write`, on a plain connection. */
export function transact<T>(sqlite: Database.Database, work: () => T): T {
  endPeriod()
  try {
    return transacting(sqlite)(work) as T
  } finally {
    endPeriod()
  }
}

/** Built once for each connection: better-sqlite3 creates eight objects for every transaction function. */
const transacting = onceFor(
  (sqlite: Database.Database) => sqlite.transaction((work: () => unknown) => work()).immediate
)

const begin = onceFor((sqlite: Database.Database) => sqlite.prepare('BEGIN DEFERRED'))
const commit = onceFor((sqlite: Database.Database) => sqlite.prepare('COMMIT'))
/** The connection inside readSnapshot. */
let reading: Database.Database | undefined

/**
 * Runs several reads on one snapshot of the database. `work` must not write. Inside a transaction, the reads see that
 * transaction's state. From three statements on it is also faster, because each statement outside a transaction locks
 * the file and checks for changes.
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
    // After a disk error, SQLite has already ended the transaction.
    if (db.sqlite.inTransaction) commit(db.sqlite).run()
    throw error
  } finally {
    reading = outer
  }
}

/** Whether a read would see changes that can still roll back: inside a write transaction. */
export function isProvisional({ sqlite }: Db): boolean {
  return sqlite.inTransaction && reading !== sqlite
}

/** Whether `error` is SQLite's error for a duplicate value in a unique index or primary key. */
export function isUniqueViolation(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError &&
    (error.code === 'SQLITE_CONSTRAINT_UNIQUE' || error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY')
  )
}
