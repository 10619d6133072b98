import { getTableColumns, sql } from 'drizzle-orm'
import type { Column, SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteColumnBuilderBase, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Tx } from './database.ts'

/**
 * What the shop does with the data of a column when it exports or erases a person. Export, erasure and the test that
 * nothing of an erased person remains (test/shop/customers/personal-data.test.ts) derive from these marks.
 */
export type Mark =
  | { kind: 'personal'; erased: unknown }
  | { kind: 'internal'; erased: unknown }
  | { kind: 'kept'; reason: string }
  | { kind: 'not personal' }

/** By the configuration that a column shares with its builder. */
const marks = new WeakMap<object, Mark>()
const deletedTables = new WeakSet<SQLiteTable>()

type Erased<B extends SQLiteColumnBuilderBase> = SQL | B['_']['data'] | (B['_']['notNull'] extends true ? never : null)

/** Marks a column with data of a person: an export contains it, and an erasure sets it to `erased`. */
export function personal<B extends SQLiteColumnBuilderBase>(column: B, erased: Erased<B>): B {
  return marked(column, { kind: 'personal', erased })
}

/** Like `personal` for keys, secrets and states that an export leaves out. */
export function internal<B extends SQLiteColumnBuilderBase>(column: B, erased: Erased<B>): B {
  return marked(column, { kind: 'internal', erased })
}

/** Marks a column with data of a person that stays after an erasure, for a reason. */
export function kept<B extends SQLiteColumnBuilderBase>(column: B, reason: string): B {
  return marked(column, { kind: 'kept', reason })
}

/** Marks a column that says nothing about a person. */
export function notPersonal<B extends SQLiteColumnBuilderBase>(column: B): B {
  return marked(column, { kind: 'not personal' })
}

function marked<B extends SQLiteColumnBuilderBase>(column: B, mark: Mark): B {
  marks.set(configOf(column), mark)
  return column
}

/** drizzle gives a column the configuration of its builder, and declares it protected in both. */
function configOf(column: object): object {
  const config: unknown = Reflect.get(column, 'config')
  if (typeof config !== 'object' || config === null) throw new TypeError('The column has no configuration.')
  return config
}

/** Marks a table of which an erasure deletes the person's rows, so that its columns need no marks. */
export function deletedWithPerson<T extends SQLiteTable>(table: T): T {
  deletedTables.add(table)
  return table
}

/** Whether an erasure deletes the person's rows of a table. */
export function isDeletedWithPerson(table: SQLiteTable): boolean {
  return deletedTables.has(table)
}

/** The mark of a column; undefined for one that is not decided. */
export function markOf(column: Column): Mark | undefined {
  return marks.get(configOf(column))
}

/** The personal columns of a row, by their names, as an export contains them. */
export function personalFields(table: SQLiteTable, row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = columnsMarked(table, 'personal').map(({ name }) => name)
  return Object.fromEntries(names.map((name) => [name, row[name]]))
}

/** Erases the person in the rows that match: sets every personal and internal column to its erased value. */
export function eraseRows(
  tx: Tx,
  table: SQLiteTable,
  where: SQL | undefined,
  further: Record<string, unknown> = {}
): void {
  const erased = columnsMarked(table, 'personal', 'internal').map(({ name, erased }) => [name, erased])
  tx.orm
    .update(table)
    .set({ ...Object.fromEntries(erased), ...further })
    .where(where ?? sql`FALSE`)
    .run()
}

/** The SQL condition, as a partial index needs it, of rows with personal data that is not erased. */
export function hasPersonalData(columns: Readonly<Record<string, SQLiteColumn>>): string {
  return markedIn(columns, 'personal')
    .map(({ column, erased }) => {
      if (erased === null) return `${column.name} IS NOT NULL`
      return `${column.name} <> '${String(column.mapToDriverValue(erased))}'`
    })
    .join(' OR ')
}

function columnsMarked(table: SQLiteTable, ...kinds: ('personal' | 'internal')[]) {
  return markedIn(getTableColumns(table), ...kinds)
}

function markedIn(columns: Readonly<Record<string, Column>>, ...kinds: ('personal' | 'internal')[]) {
  return Object.entries(columns).flatMap(([name, column]) => {
    const mark = markOf(column)
    if (mark === undefined || !('erased' in mark) || !kinds.some((kind) => kind === mark.kind)) return []
    return [{ name, column, erased: mark.erased }]
  })
}
