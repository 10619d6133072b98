import { randomToken, tokenHash } from '../../platform/crypto/secrets.ts'
import type { Db } from '../../platform/db/database.ts'
import { keyedHash } from '../../platform/db/keyed-hash.ts'

/** Crockford's base 32 (crockford.com/base32.html): without letters that people confuse with digits. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const codeLength = 26
const isCode = new RegExp(`^[${alphabet}]{${codeLength}}$`)

/** A new code of 128 bits and what the database stores of it. */
export function newCode(db: Db): {
  code: string
  salt: string
  codeHash: string
  lastFour: string
} {
  const salt = randomToken(16)
  const code = codeOf(db, salt)
  return { code, salt, codeHash: hashOf(code), lastFour: code.slice(-4) }
}

/** The code of a card; null if the shop has another secret key than when it was issued. */
export function readCode(db: Db, card: { salt: string; codeHash: string }): string | null {
  const code = codeOf(db, card.salt)
  return hashOf(code) === card.codeHash ? code : null
}

/** Whether a text has the form of a gift card's code. */
export function isCardCode(typed: string): boolean {
  return hashOfTyped(typed) !== null
}

/** The hash of a code as people write it: case, spaces and hyphens do not matter, and O is 0. Null if it cannot be a code. */
export function hashOfTyped(typed: string): string | null {
  const plain = typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1')
  return isCode.test(plain) ? hashOf(plain) : null
}

/** A code in groups, as people read it. The last group has four signs, as `lastFour`. */
export function withHyphens(code: string): string {
  return [
    code.slice(0, 4),
    code.slice(4, 8),
    code.slice(8, 13),
    code.slice(13, 18),
    code.slice(18, 22),
    code.slice(22)
  ].join('-')
}

function hashOf(code: string): string {
  return tokenHash(`gift card ${code}`)
}

function codeOf(db: Db, salt: string): string {
  let number = BigInt(`0x${keyedHash(db, 'gift card', salt)}`)
  let code = ''
  for (let sign = 0; sign < codeLength; sign += 1) {
    code = `${alphabet[Number(number % 32n)] ?? ''}${code}`
    number /= 32n
  }
  return code
}
