import type Database from 'better-sqlite3'
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { onceFor } from '../once-for.ts'
import type { Db, Orm, Tx } from './database.ts'

/**
 * Builds a statement once per database, because building one costs fifteen times as much as running it.
 *
 * @example const userById = statement((orm) => orm.select().from(users).where(eq(users.id, sql.placeholder('id'))).prepare())
 */
export function statement<T>(build: (orm: Orm) => T): (db: Db) => T {
  const built = onceFor(build)
  return ({ orm }) => built(orm)
}

/** Like `statement`, for SQL that the query builder cannot express. */
export function rawStatement<Params extends unknown[] | {} = unknown[], Row = unknown>(
  source: string
): (db: Db) => Database.Statement<Params extends unknown[] ? Params : [Params], Row> {
  type Prepared = Database.Statement<Params extends unknown[] ? Params : [Params], Row>
  const prepared = onceFor((sqlite: Database.Database) => sqlite.prepare(source) as unknown as Prepared)
  return ({ sqlite }) => prepared(sqlite)
}

/**
 * Finds one whole row of a table. It builds the row itself, because the query builder's row mapping costs as much as the
 * read.
 *
 * @param where an SQL condition with one `?`; the first matching row counts
 */
export function rowStatement<T extends SQLiteTable>(
  table: T,
  where: string
): (db: Db, value: string | number) => T['$inferSelect'] | undefined {
  const { list, toRow } = rowsOf(table)
  const find = valuesStatement(`SELECT ${list} FROM ${nameOf(table)} WHERE ${where}`)
  return (db, value) => {
    const values = find(db).get(value)
    return values === undefined ? undefined : toRow(values)
  }
}

/**
 * Like `rowStatement`, for all matching rows.
 *
 * @param where an SQL condition with one `?`, optionally followed by clauses such as ORDER BY
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
      .map((values) => toRow(values))
}

/**
 * Inserts a row and returns its id. Undefined values get the column's default. Reading the row by its id afterwards costs
 * half as much as RETURNING.
 */
export function insertStatement<T extends SQLiteTable>(table: T): (tx: Tx, values: T['$inferInsert']) => number {
  const inserts = statementsByColumns(
    table,
    (list) => `INSERT INTO ${nameOf(table)} (${list.join(', ')}) VALUES (${list.map(() => '?').join(', ')})`
  )
  return (tx, values) => Number(inserts(tx, values).lastInsertRowid)
}

/** Updates columns of the row with an id. Undefined values do not change. */
export function updateStatement<T extends SQLiteTable>(
  table: T
): (tx: Tx, id: number, change: Partial<T['$inferSelect']>) => void {
  const updates = statementsByColumns(
    table,
    (list) => `UPDATE ${nameOf(table)} SET ${list.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`
  )
  return (tx, id, change) => void updates(tx, change, id)
}

/** Runs a statement on the columns that have a value; each set of columns gets one prepared statement. */
function statementsByColumns(
  table: SQLiteTable,
  build: (columns: string[]) => string
): (tx: Tx, row: Readonly<Record<string, unknown>>, ...further: number[]) => Database.RunResult {
  const columns = Object.entries(getTableColumns(table)).map(([name, column], index) => ({
    name,
    column,
    bit: 2 ** index
  }))
  if (columns.length > mostBits) throw new RangeError(`${nameOf(table)} has more than ${mostBits} columns.`)
  const built = new Map<number, (db: Db) => Database.Statement>()
  return (tx, row, ...further) => {
    const values: unknown[] = []
    let choice = 0
    for (const { name, column, bit } of columns) {
      const value = row[name]
      if (value === undefined) continue
      choice += bit
      values.push(value === null ? null : column.mapToDriverValue(value))
    }
    const known = built.get(choice)
    if (known !== undefined) return known(tx).run(...values, ...further)
    const chosen = columns.filter(({ name }) => row[name] !== undefined)
    const made = rawStatement(build(chosen.map(({ column }) => `"${column.name}"`)))
    built.set(choice, made)
    return made(tx).run(...values, ...further)
  }
}

/** The number of bits that a JavaScript number represents exactly. */
const mostBits = 53

/** A statement whose rows are arrays of values. */
function valuesStatement(source: string): (db: Db) => Database.Statement<[string | number], unknown[]> {
  type Prepared = Database.Statement<[string | number], unknown[]>
  const prepared = onceFor((sqlite: Database.Database) => (sqlite.prepare(source) as Prepared).raw())
  return ({ sqlite }) => prepared(sqlite)
}

function nameOf(table: SQLiteTable): string {
  return `"${getTableName(table)}"`
}

/** The column list of a table for SELECT, and the function that turns an array of values into a row. */
function rowsOf<T extends SQLiteTable>(table: T) {
  const columns = Object.entries(getTableColumns(table)).map(([name, column]) => ({
    name,
    column,
    isEncoded: column.dataType !== 'string' && column.dataType !== 'number'
  }))
  return {
    list: columns.map(({ column }) => `${nameOf(table)}."${column.name}"`).join(', '),
    toRow(values: readonly unknown[]): T['$inferSelect'] {
      const row: Record<string, unknown> = {}
      let index = 0
      for (const { name, column, isEncoded } of columns) {
        const value = values[index++]
        row[name] = isEncoded && value !== null ? column.mapFromDriverValue(value) : value
      }
      return row
    }
  }
}
