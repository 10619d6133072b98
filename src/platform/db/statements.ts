import type Database from 'better-sqlite3'
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { onceFor } from '../once-for.ts'
import type { Db, Orm, Tx } from './database.ts'

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
 * One whole row of a table, read as SQLite hands it over: the query builder's own way of making rows costs as much as the
 * reading does.
 *
 * @param where SQL with one `?`; of several rows it is the first
 */
export function rowStatement<T extends SQLiteTable>(
  table: T,
  where: string
): (db: Db, value: string | number) => T['$inferSelect'] | undefined {
  const { list, toRow } = rowsOf(table)
  const find = valuesStatement(`SELECT ${list} FROM ${nameOf(table)} WHERE ${where}`)
  return (db, value) => {
    const values = find(db).get(value)
    return values === undefined ? undefined : toRow(values, 0)
  }
}

/**
 * All such rows.
 *
 * @param where SQL with one `?`, and what comes after it, such as ORDER BY
 */
export function rowsStatement<T extends SQLiteTable>(
  table: T,
  where: string
): (db: Db, value: string | number) => T['$inferSelect'][] {
  const { list, toRow } = rowsOf(table)
  const find = valuesStatement(`SELECT ${list} FROM ${nameOf(table)} WHERE ${where}`)
  return (db, value) =>
    find(db)
      .all(value)
      .map((values) => toRow(values, 0))
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
  const find = valuesStatement(
    `SELECT ${ones.list}, ${others.list} FROM ${nameOf(first)} JOIN ${nameOf(second)} ON ${on} WHERE ${where}`
  )
  return (db, value) => {
    const values = find(db).get(value)
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
  const columns = Object.entries(getTableColumns(table)).map(([name, column], index) => ({
    name,
    column,
    bit: 2 ** index
  }))
  if (columns.length > mostBits) throw new RangeError(`${nameOf(table)} has more than ${mostBits} columns.`)
  const built = new Map<number, (db: Db) => Database.Statement>()
  return (tx, given, ...further) => {
    const values: unknown[] = []
    let choice = 0
    for (const { name, column, bit } of columns) {
      const value = given[name]
      if (value === undefined) continue
      choice += bit
      values.push(value === null ? null : column.mapToDriverValue(value))
    }
    const known = built.get(choice)
    if (known !== undefined) return known(tx).run(...values, ...further)
    const chosen = columns.filter(({ name }) => given[name] !== undefined)
    const made = rawStatement(build(chosen.map(({ column }) => `"${column.name}"`)))
    built.set(choice, made)
    return made(tx).run(...values, ...further)
  }
}

/** As many as a number can tell apart. */
const mostBits = 53

/** A statement whose rows are arrays of their values. */
function valuesStatement(source: string): (db: Db) => Database.Statement<[string | number], unknown[]> {
  type Prepared = Database.Statement<[string | number], unknown[]>
  const prepared = onceFor((sqlite: Database.Database) => (sqlite.prepare(source) as Prepared).raw())
  return ({ sqlite }) => prepared(sqlite)
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
