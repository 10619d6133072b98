import { freshBytes } from '../../crypto/secrets.ts'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Bytes below fall on each letter as often. */
const evenly = 256 - (256 % letters.length)

/** A new object id in Stripe's manner: `pi_` and 24 random characters of base 62. */
export function newId(prefix: string, length = 24): string {
  let id = `${prefix}_`
  const end = id.length + length
  while (id.length < end) {
    for (const byte of freshBytes(end - id.length)) if (byte < evenly) id += letters[byte % letters.length]
  }
  return id
}

/** The id of a field that holds an id or, where it was expanded, the object itself. */
export function idOf(value: string | { id: string } | null | undefined): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : value.id
}
