import { sql } from 'drizzle-orm'
import type { SQL, SQLWrapper } from 'drizzle-orm'
import { integer, text } from 'drizzle-orm/sqlite-core'

/** A column of epoch milliseconds. */
export const instant = (name: string) => integer(name)
/** A column of 0 or 1, read as a boolean. */
export const bool = (name: string) => integer(name, { mode: 'boolean' })
/** A column of minor units in the row's currency. */
export const minor = (name: string) => integer(name)
/** A column of JSON text. The caller declares its type; nothing validates it. */
export const json = <T>(name: string) => text(name, { mode: 'json' }).$type<T>()

/** The CHECK expression that limits a text column to its `enum` values. */
export function oneOf(column: SQLWrapper & { enumValues: readonly string[] }): SQL {
  return sql`${column} IN (${sql.raw(sqlList(column.enumValues))})`
}

/** String literals for SQL's IN. The values must not contain quotes, because they are not escaped. */
export function sqlList(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ')
}
