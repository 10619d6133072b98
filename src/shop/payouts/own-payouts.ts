import { findAffiliateOfUser } from '../affiliates/find.ts'
import { requireAffiliate } from '../affiliates/gate.ts'
import type { ShopContext } from '../context.ts'
import { openCursor, sealCursor } from '../referrals/list.ts'
import type { ReferralsQuery } from '../referrals/list.ts'
import { entriesOfPayouts, listAdminPayouts, toLines } from './find.ts'
import type { OwnPayout } from './shapes.ts'
import { statementUrls } from './statement.ts'

/**
 * One page of the payouts of a user's affiliate account, the newest first, also while the account is not active.
 *
 * @throws AppError AFFILIATE_NOT_FOUND; VALIDATION_FAILED on `cursor`
 */
export function listOwnPayouts(
  shop: Pick<ShopContext, 'db' | 'keys' | 'publicUrl'>,
  userId: number,
  { limit, cursor }: ReferralsQuery
): { payouts: OwnPayout[]; nextCursor: string | null } {
  const { db, keys } = shop
  const candidate = findAffiliateOfUser(db, userId)
  const beforeId = cursor === undefined ? Number.MAX_SAFE_INTEGER : openCursor(keys.cursor, candidate?.id, cursor)
  const { id: affiliateId } = requireAffiliate(db, candidate)
  const rows = listAdminPayouts(db, { affiliateId, beforeId, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const entries = entriesOfPayouts(
    db,
    shown.map(({ id }) => id)
  )
  const page = shown.map(({ affiliateCode: _code, paidBy: _by, failureReason: _why, ...payout }) => ({
    ...payout,
    lines: toLines(entries.get(payout.id)),
    statement: statementUrls(shop, { id: payout.id, createdAt: Date.parse(payout.createdAtUtc) })
  }))
  const last = page.at(-1)
  const nextCursor = rows.length > limit && last !== undefined ? sealCursor(keys.cursor, affiliateId, last.id) : null
  return { payouts: page, nextCursor }
}
