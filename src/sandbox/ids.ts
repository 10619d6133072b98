import { freshBytes } from '../platform/crypto/secrets.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Bytes below fall on each letter as often. */
const unbiasedLimit = 256 - (256 % alphabet.length)

/** In milliseconds, until the year 2081. */
const timestampLength = 7

/**
 * A new object id in Stripe's manner: `pi_` and 24 characters of base 62, the first of them the moment and the others
 * random. Ids of one moment so stand side by side in an index, where random ones would change a page of it each.
 */
export function newId(prefix: string, length = 24): string {
  return `${prefix}_${encodeTimestamp(Date.now())}${randomBase62(length - timestampLength)}`
}

/** Random characters of base 62. */
export function randomBase62(length: number): string {
  const picked = Buffer.alloc(length)
  let count = 0
  while (count < length) {
    for (const byte of freshBytes(length - count)) {
      if (byte < unbiasedLimit) picked[count++] = alphabet.charCodeAt(byte % alphabet.length)
    }
  }
  return picked.toString('latin1')
}

function encodeTimestamp(ms: number): string {
  let text = ''
  let rest = ms
  for (let place = 0; place < timestampLength; place += 1) {
    text = `${alphabet[rest % alphabet.length]}${text}`
    rest = Math.floor(rest / alphabet.length)
  }
  return text
}

/** The id of a field that holds an id or, where it was expanded, the object itself. */
export function idOf(value: string | { id: string } | null | undefined): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : value.id
}
