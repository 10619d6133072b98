import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { emit } from '../outbox/emit.ts'
import { parseCode } from './code.ts'
import { findAffiliateByCode, findAffiliateOfUser } from './find.ts'
import type { AffiliateRow, AffiliateStatus } from './rows.ts'
import { affiliates } from './schema.ts'

export type NewAffiliate = {
  userId: number
  code: string
  status: AffiliateStatus
  /** Null for the shop's rate. */
  rateBps: number | null
  website?: string | null
  message?: string | null
}

/**
 * Creates an affiliate account and emits `affiliate.applied`, and `affiliate.approved` or `affiliate.rejected` if it
 * starts in that state. Applications, the command line and seeds use this function.
 *
 * @throws AppError AFFILIATE_EXISTS when the user has one, CONFLICT when the code is taken, VALIDATION_FAILED on `code`
 */
export function createAffiliate(db: Db, given: NewAffiliate, now: number): AffiliateRow {
  const code = parseCode(given.code)
  return write(db, (tx) => {
    if (findAffiliateOfUser(tx, given.userId) !== undefined) {
      throw new AppError('AFFILIATE_EXISTS', 'There is an affiliate account already.')
    }
    if (findAffiliateByCode(tx, code) !== undefined) {
      throw new AppError('CONFLICT', 'Another affiliate has this code.')
    }
    const affiliate = insertAffiliate(tx, { ...given, code }, now)
    const { id: affiliateId, status } = affiliate
    emit(tx, 'affiliate.applied', { affiliateId }, now)
    if (status === 'active') emit(tx, 'affiliate.approved', { affiliateId }, now)
    if (status === 'rejected') emit(tx, 'affiliate.rejected', { affiliateId }, now)
    return affiliate
  })
}

function insertAffiliate(tx: Tx, given: NewAffiliate, now: number): AffiliateRow {
  const { userId, code, status, rateBps, website = null, message = null } = given
  const codeKey = compareKey(code)
  return tx.orm
    .insert(affiliates)
    .values({ userId, code, codeKey, status, rateBps, website, message, createdAt: now, updatedAt: now })
    .returning()
    .get()
}
