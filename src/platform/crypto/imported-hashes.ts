import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { trimEndOf, trimStartOf } from '../text.ts'

/**
 * Password hashes of other shops. They are checked at login and then replaced by argon2id, so the shop creates none.
 *
 * - phpass: `$P$` or `$H$`, salted MD5 in rounds, WordPress until 6.7 (https://www.openwall.com/phpass/)
 * - bcrypt: `$2a$`, `$2b$`, `$2y$`
 * - WordPress 6.8: `$wp$2y$`, bcrypt of the base64 of an HMAC-SHA-384 (wp_hash_password() in wp-includes/pluggable.php)
 * - MD5 in hexadecimal, WordPress before 2.5
 */
const phpass = /^\$[PH]\$([./0-9A-Za-z])([./0-9A-Za-z]{8})[./0-9A-Za-z]{22}$/
const bcrypt = /^(\$wp)?(\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53})$/
const md5 = /^[0-9a-f]{32}$/

/** Bounds for the cost in a stored hash: the two of the highest cost take about a second. */
const maxBcryptCost = 14
const maxPhpassDoublings = 16
const phpassAlphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const phpBlanks = ' \t\n\r\0\v'
const roundsPerTurn = 512

/** The cost of checking a hash; hashes of equal cost take equally long. Undefined for what this file does not check. */
export function importedCost(storedHash: string): string | undefined {
  if (md5.test(storedHash)) return 'md5'
  const bcryptCost = Number(bcrypt.exec(storedHash)?.[3])
  if (bcryptCost >= 4 && bcryptCost <= maxBcryptCost) return `bcrypt ${bcryptCost}`
  const doublings = phpassAlphabet.indexOf(phpass.exec(storedHash)?.[1] ?? ' ')
  return doublings >= 7 && doublings <= maxPhpassDoublings ? `phpass ${doublings}` : undefined
}

/**
 * Whether a password matches a hash that importedCost() accepts. Blanks around the password do not count, because
 * WordPress removes them when a password is set and when it is entered.
 */
export async function verifyImported(storedHash: string, password: string): Promise<boolean> {
  const entered = trimAsPhp(password)
  const [, keyed, bcryptHash] = bcrypt.exec(storedHash) ?? []
  if (bcryptHash !== undefined) {
    // Loaded at the first check: only shops that moved in need it.
    const { verify } = await import('@node-rs/bcrypt')
    return verify(keyed === undefined ? entered : wordPressKey(entered), bcryptHash)
  }
  const expected = md5.test(storedHash) ? md5Of(entered).toString('hex') : await phpassOf(storedHash, entered)
  return timingSafeEqual(Buffer.from(expected), Buffer.from(storedHash))
}

function trimAsPhp(text: string): string {
  return trimEndOf(trimStartOf(text, phpBlanks), phpBlanks)
}

function wordPressKey(password: string): string {
  return createHmac('sha384', 'wp-sha384').update(password).digest('base64')
}

/** The hash of a password with the parameters of a stored phpass hash. It leaves the event loop free between turns. */
async function phpassOf(storedHash: string, password: string): Promise<string> {
  const [, doublings = '', salt = ''] = phpass.exec(storedHash) ?? []
  const entered = Buffer.from(password)
  let digest = md5Of(Buffer.concat([Buffer.from(salt), entered]))
  const rounds = 2 ** phpassAlphabet.indexOf(doublings)
  for (let round = 1; round <= rounds; round += 1) {
    digest = md5Of(Buffer.concat([digest, entered]))
    if (round % roundsPerTurn === 0) await setImmediate()
  }
  return storedHash.slice(0, 12) + phpassText(digest)
}

/** phpass's own base64: six bits a character, the lowest bits first. */
function phpassText(bytes: Buffer): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const group = bytes.subarray(at, at + 3)
    const bits = group.readUIntLE(0, group.length)
    for (let part = 0; part <= group.length; part += 1) text += phpassAlphabet.charAt((bits >> (6 * part)) & 63)
  }
  return text
}

function md5Of(data: string | Buffer): Buffer {
  return createHash('md5').update(data).digest()
}
