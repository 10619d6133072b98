import { unserialize } from 'php-serialize'
import { roundToMinor } from '../../../platform/money.ts'
import { isRecord } from '../../../platform/typed.ts'
import type { Row, WordPress } from './database.ts'

/** The parts of an address, as WooCommerce names them in its fields and columns. */
export const addressKeys = [
  'first_name',
  'last_name',
  'company',
  'address_1',
  'address_2',
  'city',
  'state',
  'postcode',
  'country'
]

/** The text of a column; empty for NULL and for a column that the row does not have. */
export function text(row: Row, column: string): string {
  return row[column] ?? ''
}

/** A time that WordPress stores in UTC (`2026-11-20 18:02:26`), in epoch milliseconds. Null for none and for `0000-00-00`. */
export function utc(stored: string): number | null {
  const at = /^[1-9]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d/.test(stored)
    ? Date.parse(`${stored.slice(0, 19).replace(' ', 'T')}Z`)
    : Number.NaN
  return Number.isNaN(at) ? null : at
}

/** Seconds since 1970 in epoch milliseconds; null for none. */
export function seconds(stored: string): number | null {
  return /^[1-9]\d{0,10}$/.test(stored) ? Number(stored) * 1000 : null
}

/** An amount that a plugin stores with any number of decimals (`21.848739`), rounded to minor units; 0 for no number. */
export function minorOf(stored: string, currency: string): number {
  return roundToMinor(numberOf(stored), currency)
}

/** A number that a plugin stores as text; 0 for none, and for other text. */
export function numberOf(stored: string | undefined): number {
  const value = Number(stored ?? '')
  return Number.isFinite(value) ? value : 0
}

/** A value that PHP serialised; undefined if it is broken. Arrays with other keys than 0, 1, 2 are objects. */
export function php(stored: string): unknown {
  try {
    return unserialize(stored, {}, { strict: false })
  } catch {
    // The library throws errors of several kinds for a broken value.
    return undefined
  }
}

/** A value in JSON; undefined if it is broken. */
export function json(stored: string): unknown {
  try {
    return JSON.parse(stored)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The entries of an array that PHP serialised; none if it is broken or not an array. */
export function phpEntries(stored: string): [string, unknown][] {
  const value = php(stored)
  return Array.isArray(value) || isRecord(value) ? Object.entries(value) : []
}

/** A single value of a PHP array as text; empty for an array, an object and null. */
export function scalar(value: unknown): string {
  return typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    typeof value === 'boolean'
    ? String(value)
    : ''
}

export type Meta = ReadonlyMap<string, string>
const noMeta: Meta = new Map()

/** The ids of rows, in their order. */
export function idsOf(rows: readonly Row[]): string[] {
  return rows.map((row) => text(row, 'id'))
}

/**
 * Reads the meta values of some rows, by the id of the row. Of several values of one key, WordPress uses the first.
 *
 * @param table `postmeta`, `usermeta`, …, named without the prefix
 * @param owner the column with the id of the row that has the value
 */
export async function readMeta(
  { rows }: WordPress,
  { table, owner, order = 'meta_id' }: { table: string; owner: string; order?: string },
  ids: readonly string[],
  keys?: readonly string[]
): Promise<(id: string) => Meta> {
  if (ids.length === 0) return () => noMeta
  const found = await rows(
    `SELECT ${owner} AS owner, meta_key, meta_value FROM {${table}} WHERE ${owner} IN (?)` +
      `${keys === undefined ? '' : ' AND meta_key IN (?)'} ORDER BY ${order}`,
    keys === undefined ? [ids] : [ids, keys]
  )
  const byOwner = new Map<string, Map<string, string>>()
  for (const row of found) {
    const meta = byOwner.get(text(row, 'owner')) ?? new Map<string, string>()
    if (!meta.has(text(row, 'meta_key'))) meta.set(text(row, 'meta_key'), text(row, 'meta_value'))
    byOwner.set(text(row, 'owner'), meta)
  }
  return (id) => byOwner.get(id) ?? noMeta
}
