import { randomInt } from 'node:crypto'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A new object id in Stripe's manner: `pi_` and 24 random characters of base 62. */
export function newId(prefix: string, length = 24): string {
  let id = `${prefix}_`
  for (let at = 0; at < length; at += 1) id += letters[randomInt(letters.length)]
  return id
}

/** The id of a field that holds an id or, where it was expanded, the object itself. */
export function idOf(value: string | { id: string } | null | undefined): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : value.id
}
