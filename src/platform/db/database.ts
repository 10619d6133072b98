import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import type { Placeholder } from 'drizzle-orm'
import { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { BetterSQLiteSession } from 'drizzle-orm/better-sqlite3/session'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { AppError } from '../../errors.ts'
import { asActor } from '../actor.ts'
import { syncToDisk } from '../files.ts'
import { onceFor, endPeriod } from '../once-for.ts'
import { emailKey, compareKey } from '../text.ts'
import { foldWord, reversed, searchableText, signTokens, spellingWords } from '../search-text.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { isBusy } from './storage-errors.ts'

export type Orm = BetterSQLite3Database

/** An open database. `sqlite` (pragmas, transactions, raw SQL) and `orm` (typed statements) share one connection. */
export type Db = { readonly sqlite: Database.Database; readonly orm: Orm }

declare const inTransaction: unique symbol
/** A database inside a write transaction. Functions that write require it, so they cannot run outside one. */
export type Tx = Db & { readonly [inTransaction]: true }

/**
 * The size of the write-ahead log, in pages, at which SQLite checkpoints it: 16 MB. Consecutive orders change the same
 * pages; with SQLite's default of 1,000, rewriting them took a sixth of the time of a checkout. A server's thread
 * (`startCheckpoints`) usually copies the log before it grows so large.
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
  add('reversed', reversed)
  add('searchable', searchableText)
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

/**
 * Like `write`, without waiting for the disk. After a power cut the database is intact, but this write may be missing;
 * `syncWrites` makes sure that it is not. For work that can be repeated, whose wait would hold the lock before checkouts.
 */
export function writeUnsynced<T>(db: Db, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): T {
  db.sqlite.pragma('synchronous = NORMAL')
  try {
    return write(db, work)
  } finally {
    db.sqlite.pragma('synchronous = FULL')
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

/**
 * Builds a statement once per database, because building one costs fifteen times as much as running it.
 *
 * @example const userById = statement((orm) => orm.select().from(users).where(eq(users.id, sql.placeholder('id'))).prepare())
 */
export function statement<T>(build: (orm: Orm) => T): (db: Db) => T {
  const built = onceFor(build)
  return ({ orm }) => built(orm)
}

/** A placeholder for each column, for a statement that inserts a whole row. */
export function placeholders<Name extends string>(names: readonly Name[]): Record<Name, Placeholder>
export function placeholders(names: readonly string[]): Record<string, Placeholder> {
  return Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]))
}

/** Like `statement`, for SQL that the query builder cannot express. */
export function rawStatement<Params extends unknown[] | {} = unknown[], Row = unknown>(
  source: string
): (db: Db) => Database.Statement<Params extends unknown[] ? Params : [Params], Row> {
  type Prepared = Database.Statement<Params extends unknown[] ? Params : [Params], Row>
  const prepared = onceFor((sqlite: Database.Database) => sqlite.prepare(source) as unknown as Prepared)
  return ({ sqlite }) => prepared(sqlite)
}

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
  const pending: Pending = { work: asActor(work), resolve: resolve as (value: unknown) => void, reject }
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
