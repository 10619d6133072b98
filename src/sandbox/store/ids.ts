import { randomBytes } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Bytes below this map to each character equally often. */
const unbiasedLimit = 256 - (256 % alphabet.length)

/** Characters of base 62 that hold epoch milliseconds, until the year 2081. */
const timestampLength = 7

/**
 * A new object id like Stripe's: `pi_` and 24 characters of base 62. The first seven encode the time, so that new ids
 * are adjacent in an index and share its pages; the others are random.
 */
export function newId(prefix: string, length = 24): string {
  return `${prefix}_${encodeTimestamp(Date.now())}${randomBase62(length - timestampLength)}`
}

/** Random characters of base 62, evenly distributed. */
export function randomBase62(length: number): string {
  const picked = Buffer.alloc(length)
  let count = 0
  while (count < length) {
    for (const byte of randomBytes(length - count)) {
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

/** The id in a field that holds an id or, if expanded, the object. */
export function idOf(value: string | { id: string } | null | undefined): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : value.id
}
