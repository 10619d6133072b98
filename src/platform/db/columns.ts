import { sql } from 'drizzle-orm'
import type { SQL, SQLWrapper } from 'drizzle-orm'
import { integer, text } from 'drizzle-orm/sqlite-core'

/** Epoch milliseconds. */
export const instant = (name: string) => integer(name)
export const bool = (name: string) => integer(name, { mode: 'boolean' })
/** Minor units of the row's currency. */
export const minor = (name: string) => integer(name)
/** A JSON document as text, typed by its reader and writer. */
export const json = <T>(name: string) => text(name, { mode: 'json' }).$type<T>()

/** The CHECK of a text column with an `enum`: one of those values. */
export function oneOf(column: SQLWrapper & { enumValues: readonly string[] }): SQL {
  return sql`${column} IN (${sql.raw(sqlList(column.enumValues))})`
}

/** Literals for SQL's IN. The values are the program's own and hold no quotes. */
export function sqlList(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ')
}
