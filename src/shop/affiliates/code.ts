import { validationFailed } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { codePoints, slugify } from '../../platform/text.ts'
import { findAffiliateByCode } from './find.ts'

/**
 * A code as it is kept: NFC and trimmed, 1 to 100 characters, no spaces or control characters, and not digits alone,
 * which would be taken for somebody's id.
 *
 * @throws AppError VALIDATION_FAILED on `code`
 */
export function parseCode(given: string): string {
  const code = given.normalize('NFC').trim()
  if (code === '' || codePoints(code) > 100 || /[\s\p{C}]/u.test(code) || /^\d+$/.test(code)) {
    throw validationFailed({ code: ['Takes 1 to 100 characters without spaces, and not digits alone.'] })
  }
  return code
}

/** A free code for a person: his username in plain letters, with a number behind it when somebody has that one. */
export function freeCode(db: Db, username: string): string {
  const plain = slugify(username).slice(0, 60)
  const base = plain === '' ? 'partner' : /^\d+$/.test(plain) ? `partner-${plain}` : plain
  for (let number = 1; ; number += 1) {
    const code = number === 1 ? base : `${base}-${number}`
    if (findAffiliateByCode(db, code) === undefined) return code
  }
}
