import { validationFailed } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { codePoints, slugify } from '../../platform/text.ts'
import { findAffiliateByCode } from './find.ts'

/**
 * Normalizes an affiliate code to NFC and trims it. A code has 1 to 100 characters, no spaces or control characters, and
 * not only digits, because digits mean an affiliate's id.
 *
 * @throws AppError VALIDATION_FAILED on `code`
 */
export function parseCode(text: string): string {
  const code = text.normalize('NFC').trim()
  if (code === '' || codePoints(code) > 100 || /[\s\p{C}]/u.test(code) || /^\d+$/.test(code)) {
    throw validationFailed({ code: ['Must have 1 to 100 characters, no spaces, and not only digits.'] })
  }
  return code
}

/** An unused code for a user: the username in ASCII letters, with a number when another affiliate has that code. */
export function freeCode(db: Db, username: string): string {
  const plain = slugify(username).slice(0, 60)
  const base = plain === '' ? 'partner' : /^\d+$/.test(plain) ? `partner-${plain}` : plain
  for (let number = 1; ; number += 1) {
    const code = number === 1 ? base : `${base}-${number}`
    if (findAffiliateByCode(db, code) === undefined) return code
  }
}
