/** The keys of a table, in its order. The table is a constant with at least one key, so that no other key appears. */
export function keysOf<T extends object>(table: T): [keyof T & string, ...(keyof T & string)[]] {
  return Object.keys(table) as [keyof T & string, ...(keyof T & string)[]]
}

/** Whether a table has a key, which has the table's type then. */
export function isKeyOf<T extends object>(table: T, key: PropertyKey): key is keyof T {
  return Object.hasOwn(table, key)
}

/** Whether a value has properties that can be read. Arrays have them, too. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Whether a value is an object with fields, and not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The code of an error of the system, of SQLite or of a library, such as `ENOENT`. Undefined for an error without one. */
export function codeOf(error: unknown): string | undefined {
  return isObject(error) && typeof error['code'] === 'string' ? error['code'] : undefined
}
