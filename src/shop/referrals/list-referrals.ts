import type { ReferralsQuery } from './input.ts'
import { toReferral } from './view.ts'
import type { ReferralView } from './view.ts'
import type { ReferralRow } from './rows.ts'
import { readSnapshot } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import type { ShopContext } from '../context.ts'
import { openCursor, sealCursor } from './cursor.ts'
import { findAffiliateOfUser } from '../affiliates/find.ts'
import { requireActiveAffiliate } from '../affiliates/gate.ts'

const pageBefore = rawStatement<
  [affiliateId: number, beforeId: number, limit: number],
  Pick<ReferralRow, 'id' | 'amountMinor' | 'currency' | 'status' | 'createdAt'>
>(
  `SELECT id, amount_minor AS amountMinor, currency, status, created_at AS createdAt FROM referrals
   WHERE affiliate_id = ? AND id < ? ORDER BY id DESC LIMIT ?`
)

/**
 * One page of the referrals of a user's affiliate account, newest first. Pages continue by id, so every page costs the
 * same and new referrals do not shift the pages.
 *
 * @throws AppError VALIDATION_FAILED on `cursor`, also without an affiliate account, because parameters are checked
 *   first; then as `requireActiveAffiliate`
 */
export function listReferrals(
  shop: Pick<ShopContext, 'db' | 'keys'>,
  userId: number,
  query: ReferralsQuery
): { referrals: ReferralView[]; nextCursor: string | null } {
  return readSnapshot(shop.db, () => pageOf(shop, userId, query))
}

function pageOf(
  { db, keys }: Pick<ShopContext, 'db' | 'keys'>,
  userId: number,
  { limit, cursor }: ReferralsQuery
): { referrals: ReferralView[]; nextCursor: string | null } {
  const candidate = findAffiliateOfUser(db, userId)
  const beforeId = cursor === undefined ? Number.MAX_SAFE_INTEGER : openCursor(keys.cursor, candidate?.id, cursor)
  const affiliate = requireActiveAffiliate(db, candidate)
  // One more row than requested shows whether there is a next page.
  const rows = pageBefore(db).all(affiliate.id, beforeId, limit + 1)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const nextCursor = rows.length > limit && last !== undefined ? sealCursor(keys.cursor, affiliate.id, last.id) : null
  return { referrals: page.map(toReferral), nextCursor }
}
