import { sql } from 'drizzle-orm'
import type { SQL, SQLWrapper } from 'drizzle-orm'
import { customType, integer } from 'drizzle-orm/sqlite-core'
import type { z } from 'zod'

/** A column of epoch milliseconds. */
export const instant = (name: string) => integer(name)
/** A column of 0 or 1, read as a boolean. */
export const bool = (name: string) => integer(name, { mode: 'boolean' })
/** A column of minor units in the row's currency. */
export const minor = (name: string) => integer(name)
/** A column of JSON text. Its schema gives the type, and parses the text when a row is read; it throws for other text. */
export const json = <S extends z.ZodType>(name: string, schema: S) =>
  customType<{ data: z.output<S>; driverData: string }>({
    dataType: () => 'text',
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (stored) => schema.parse(JSON.parse(stored))
  })(name)

/** The CHECK expression that limits a text column to its `enum` values. */
export function oneOf(column: SQLWrapper & { enumValues: readonly string[] }): SQL {
  return sql`${column} IN (${sql.raw(sqlList(column.enumValues))})`
}

/** String literals for SQL's IN. The values must not contain quotes, because they are not escaped. */
export function sqlList(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ')
}
