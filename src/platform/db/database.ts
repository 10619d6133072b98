import { setImmediate } from 'node:timers'
import Database from 'better-sqlite3'
import { getTableColumns, getTableName } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { AppError } from '../../errors.ts'
import { onceFor } from '../once-for.ts'
import { compareKey } from '../text.ts'

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
 * Has every statement of a connection planned when it is prepared, and never again. SQLite with STAT4, which
 * better-sqlite3 brings, otherwise plans a statement with a join, an ORDER BY or a LIMIT anew whenever a value is bound
 * to it, since the best plan might depend on the value; that costs four times what the statement does. A value behind
 * an operator is none that the planner looks at. (SQLite's own switch for this, ENABLE_QPSG, is not to be had from here.)
 * A partial index is used only where its condition is spelt out, as ever.
 */
function planOnce(sqlite: Database.Database): void {
  const prepare = sqlite.prepare.bind(sqlite) as (source: string) => Database.Statement
  sqlite.prepare = ((source: string) => prepare(source.replace(placeholder, unpeeked))) as typeof sqlite.prepare
}

/** What stands in quotes or in a comment is passed over. */
const placeholder = /'[^']*'|"[^"]*"|--[^\n]*|\b(limit|offset)\s+(\?|@\w+)|(\?|@\w+)/gi

function unpeeked(found: string, count?: string, most?: string, value?: string): string {
  if (count !== undefined) return `${count} CAST(${most} AS INTEGER)`
  return value === undefined ? found : `+${value}`
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

const begin = rawStatement('BEGIN DEFERRED')
const commit = rawStatement('COMMIT')
/** The connection whose snapshot is being read. */
let reading: Database.Database | undefined

/**
 * Reads several statements from one snapshot; from the third statement on that is also faster, since each by itself
 * would lock the file and look for what is new. Inside a transaction it reads what that one sees. Nothing is written here.
 */
export function readSnapshot<T>(db: Db, work: (db: Db) => T extends PromiseLike<unknown> ? never : T): T {
  if (db.sqlite.inTransaction) return work(db)
  begin(db).run()
  const outer = reading
  reading = db.sqlite
  try {
    const read = work(db)
    commit(db).run()
    return read
  } catch (error) {
    // Over a disk that fails SQLite ends it by itself.
    if (db.sqlite.inTransaction) commit(db).run()
    throw error
  } finally {
    reading = outer
  }
}

/** Whether what is read now may yet be rolled back. */
export function isProvisional({ sqlite }: Db): boolean {
  return sqlite.inTransaction && reading !== sqlite
}

/**
 * A statement built once for each database and kept: building one anew costs fifteen times its execution.
 *
 * @example const userById = statement((orm) => orm.select().from(users).where(eq(users.id, sql.placeholder('id'))).prepare())
 */
export function statement<T>(build: (orm: Orm) => T): (db: Db) => T {
  const built = onceFor(build)
  return ({ orm }) => built(orm)
}

/** The same for SQL that the query builder cannot say. */
export function rawStatement<Params extends unknown[] | {} = unknown[], Row = unknown>(
  source: string
): (db: Db) => Database.Statement<Params extends unknown[] ? Params : [Params], Row> {
  type Prepared = Database.Statement<Params extends unknown[] ? Params : [Params], Row>
  const prepared = onceFor((sqlite: Database.Database) => sqlite.prepare(source) as unknown as Prepared)
  return ({ sqlite }) => prepared(sqlite)
}

/**
 * One whole row of a table, read as SQLite hands it over, without the query builder's own way of making rows: for what
 * nearly every request reads.
 *
 * @param where SQL with one `?`, which finds at most one row
 */
export function rowStatement<T extends SQLiteTable>(
  table: T,
  where: string
): (db: Db, value: string | number) => T['$inferSelect'] | undefined {
  const { list, toRow } = rowsOf(table)
  const find = rawStatement<[string | number], unknown[]>(`SELECT ${list} FROM ${nameOf(table)} WHERE ${where}`)
  return (db, value) => {
    const values = find(db).raw().get(value)
    return values === undefined ? undefined : toRow(values, 0)
  }
}

/**
 * The same for a row and the one that it belongs to. (The query builder's join would cost three times what two reads do.)
 *
 * @param on SQL that says how the second table belongs to the first
 */
export function pairStatement<First extends SQLiteTable, Second extends SQLiteTable>(
  first: First,
  second: Second,
  { on, where }: { on: string; where: string }
): (db: Db, value: string | number) => [First['$inferSelect'], Second['$inferSelect']] | undefined {
  const [ones, others] = [rowsOf(first), rowsOf(second)]
  const find = rawStatement<[string | number], unknown[]>(
    `SELECT ${ones.list}, ${others.list} FROM ${nameOf(first)} JOIN ${nameOf(second)} ON ${on} WHERE ${where}`
  )
  return (db, value) => {
    const values = find(db).raw().get(value)
    return values === undefined ? undefined : [ones.toRow(values, 0), others.toRow(values, ones.width)]
  }
}

/**
 * Inserts a row and gives its id; what is undefined has the column's default. Reading it anew by its id costs half of
 * what RETURNING does.
 */
export function insertStatement<T extends SQLiteTable>(table: T): (tx: Tx, values: T['$inferInsert']) => number {
  const inserts = statementsByColumns(
    table,
    (list) => `INSERT INTO ${nameOf(table)} (${list.join(', ')}) VALUES (${list.map(() => '?').join(', ')})`
  )
  return (tx, values) => Number(inserts(tx, values).lastInsertRowid)
}

/** Changes some columns of the row with an id; what is undefined stays as it is. */
export function updateStatement<T extends SQLiteTable>(
  table: T
): (tx: Tx, id: number, change: Partial<T['$inferSelect']>) => void {
  const updates = statementsByColumns(
    table,
    (list) => `UPDATE ${nameOf(table)} SET ${list.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`
  )
  return (tx, id, change) => void updates(tx, change, id)
}

/** Runs a statement on the columns that are given, which is built once for each choice of them. */
function statementsByColumns(
  table: SQLiteTable,
  build: (columns: string[]) => string
): (tx: Tx, given: Readonly<Record<string, unknown>>, ...further: number[]) => Database.RunResult {
  const columns = Object.entries(getTableColumns(table))
  const built = new Map<string, (db: Db) => Database.Statement>()
  return (tx, given, ...further) => {
    const values: unknown[] = []
    let key = ''
    for (const [index, [name, column]] of columns.entries()) {
      const value = given[name]
      if (value === undefined) continue
      key += `${index} `
      values.push(value === null ? null : column.mapToDriverValue(value))
    }
    const known = built.get(key)
    if (known !== undefined) return known(tx).run(...values, ...further)
    const chosen = columns.filter(([name]) => given[name] !== undefined)
    const made = rawStatement(build(chosen.map(([, { name }]) => `"${name}"`)))
    built.set(key, made)
    return made(tx).run(...values, ...further)
  }
}

function nameOf(table: SQLiteTable): string {
  return `"${getTableName(table)}"`
}

/** How whole rows of a table are asked for, and made of the values that come back. */
function rowsOf<T extends SQLiteTable>(table: T) {
  const columns = Object.entries(getTableColumns(table)).map(([name, column]) => ({
    name,
    column,
    isEncoded: column.dataType !== 'string' && column.dataType !== 'number'
  }))
  return {
    width: columns.length,
    list: columns.map(({ column }) => `${nameOf(table)}."${column.name}"`).join(', '),
    toRow(values: readonly unknown[], from: number): T['$inferSelect'] {
      const row: Record<string, unknown> = {}
      let index = from
      for (const { name, column, isEncoded } of columns) {
        const value = values[index++]
        row[name] = isEncoded && value !== null ? column.mapFromDriverValue(value) : value
      }
      return row
    }
  }
}

/** True when `error` is SQLite's refusal of a second row under a unique index or primary key. */
export function isUniqueViolation(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError &&
    (error.code === 'SQLITE_CONSTRAINT_UNIQUE' || error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY')
  )
}
