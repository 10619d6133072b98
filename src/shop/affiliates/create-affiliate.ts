import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
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
 * Makes an affiliate account and tells of it. Applications, the command line and seeds come through here.
 *
 * @throws AppError AFFILIATE_EXISTS when the user has one, CONFLICT when the code is taken, VALIDATION_FAILED on `code`
 */
export function createAffiliate(tx: Tx, given: NewAffiliate, now: number): AffiliateRow {
  const code = parseCode(given.code)
  if (findAffiliateOfUser(tx, given.userId) !== undefined) {
    throw new AppError('AFFILIATE_EXISTS', 'There is an affiliate account already.')
  }
  if (findAffiliateByCode(tx, code) !== undefined) {
    throw new AppError('CONFLICT', 'Another affiliate has this code.')
  }
  const { userId, status, rateBps, website = null, message = null } = given
  const affiliate = tx.orm
    .insert(affiliates)
    .values({
      userId,
      code,
      codeKey: compareKey(code),
      status,
      rateBps,
      website,
      message,
      createdAt: now,
      updatedAt: now
    })
    .returning()
    .get()
  const affiliateId = affiliate.id
  emit(tx, 'affiliate.applied', { affiliateId }, now)
  if (status === 'active') emit(tx, 'affiliate.approved', { affiliateId }, now)
  if (status === 'rejected') emit(tx, 'affiliate.rejected', { affiliateId }, now)
  return affiliate
}
