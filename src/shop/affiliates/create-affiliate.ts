import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { emit } from '../webhooks/emit.ts'
import { parseCode } from './code.ts'
import { findAffiliateByCode, findAffiliateOfUser } from './find.ts'
import type { AffiliateRow, AffiliateStatus } from './rows.ts'
import { affiliates } from './schema.ts'

const decisionEvents: Readonly<Record<AffiliateStatus, 'affiliate.approved' | 'affiliate.rejected' | null>> = {
  pending: null,
  active: 'affiliate.approved',
  inactive: null,
  rejected: 'affiliate.rejected'
}

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
 * @throws AppError AFFILIATE_EXISTS when the user has an affiliate account, CONFLICT when another affiliate has the code,
 *   VALIDATION_FAILED on `code`
 */
export function createAffiliate(db: Db, input: NewAffiliate, now: number): AffiliateRow {
  const code = parseCode(input.code)
  return write(db, (tx) => {
    if (findAffiliateOfUser(tx, input.userId) !== undefined) {
      throw new AppError('AFFILIATE_EXISTS', 'This user already has an affiliate account.')
    }
    if (findAffiliateByCode(tx, code) !== undefined) {
      throw new AppError('CONFLICT', 'Another affiliate already has this code.')
    }
    const affiliate = insertAffiliate(tx, { ...input, code }, now)
    const { id: affiliateId, status } = affiliate
    emit(tx, 'affiliate.applied', { affiliateId }, now)
    const decided = decisionEvents[status]
    if (decided !== null) emit(tx, decided, { affiliateId }, now)
    return affiliate
  })
}

function insertAffiliate(tx: Tx, input: NewAffiliate, now: number): AffiliateRow {
  const { userId, code, status, rateBps, website = null, message = null } = input
  const codeKey = compareKey(code)
  return tx.orm
    .insert(affiliates)
    .values({ userId, code, codeKey, status, rateBps, website, message, createdAt: now, updatedAt: now })
    .returning()
    .get()
}
