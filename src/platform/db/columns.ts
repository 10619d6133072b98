import { integer, text } from 'drizzle-orm/sqlite-core'

/** Epoch milliseconds. */
export const instant = (name: string) => integer(name)
export const bool = (name: string) => integer(name, { mode: 'boolean' })
/** Minor units of the row's currency. */
export const minor = (name: string) => integer(name)
/** A JSON document as text, typed by its reader and writer. */
export const json = <T>(name: string) => text(name, { mode: 'json' }).$type<T>()
