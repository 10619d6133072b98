import type { ReferralView } from './shapes.ts'
import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { readSnapshot, statement } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { findAffiliateOfUser } from '../affiliates/find.ts'
import { requireActiveAffiliate } from '../affiliates/gate.ts'
import type { KeyObject } from 'node:crypto'
import { validationFailed } from '../../errors.ts'
import type { AppError } from '../../errors.ts'
import { hmac, sameBytes } from '../../platform/crypto/secrets.ts'
import { z } from 'zod'
import { queryInteger } from '../../platform/http/validation.ts'
import { toIso } from '../../platform/iso-time.ts'
import { referrals } from './schema.ts'
import { reasonOf } from './states.ts'
import type { ReferralRow } from './store.ts'

const pageBefore = statement((orm) =>
  orm
    .select()
    .from(referrals)
    .where(
      and(eq(referrals.affiliateId, sql.placeholder('affiliateId')), lt(referrals.id, sql.placeholder('beforeId')))
    )
    .orderBy(desc(referrals.id))
    .limit(sql.placeholder('limit'))
    .prepare()
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
  const rows = pageBefore(db).all({ affiliateId: affiliate.id, beforeId, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const nextCursor = rows.length > limit && last !== undefined ? sealCursor(keys.cursor, affiliate.id, last.id) : null
  return { referrals: page.map(toReferral), nextCursor }
}

const idBytes = 8
const macBytes = 16

/**
 * Makes the cursor of the next page: the last id of this page and an HMAC over it and the affiliate. The 24 bytes fill
 * exactly 32 characters of base64url, so that a cursor has only one encoding.
 *
 * @param key the shop's cursor key
 */
export function sealCursor(key: KeyObject, affiliateId: number, lastId: number): string {
  const id = Buffer.alloc(idBytes)
  id.writeBigUInt64BE(BigInt(lastId))
  return Buffer.concat([id, macOf(key, affiliateId, id)]).toString('base64url')
}

/**
 * Verifies a cursor of this affiliate and returns the id in it. Without an affiliate (undefined) every cursor is refused.
 *
 * @throws AppError VALIDATION_FAILED on `cursor`
 */
export function openCursor(key: KeyObject, affiliateId: number | undefined, cursor: string): number {
  // Node's decoder ignores other characters, so the alphabet and the length are checked first.
  if (!/^[A-Za-z0-9_-]{32}$/.test(cursor)) throw refused()
  const bytes = Buffer.from(cursor, 'base64url')
  const id = bytes.subarray(0, idBytes)
  // Ids start at 1, so no cursor is valid for affiliate 0.
  if (!sameBytes(bytes.subarray(idBytes), macOf(key, affiliateId ?? 0, id))) throw refused()
  return Number(id.readBigUInt64BE())
}

function macOf(key: KeyObject, affiliateId: number, id: Buffer): Buffer {
  return hmac(key, `referrals:${affiliateId}:${id.toString('hex')}`).subarray(0, macBytes)
}

function refused(): AppError {
  return validationFailed({ cursor: ['Must be the nextCursor of an earlier page of this list.'] })
}

/** Query of GET /affiliates/referrals. Parameters that name a person are refused: a client cannot choose another affiliate. */
export const referralsQuery = z.object({
  limit: queryInteger({ min: 1, max: 100, default: 20 }),
  cursor: z.string().optional().meta({ description: 'nextCursor of the previous page.' })
})
export type ReferralsQuery = z.output<typeof referralsQuery>

/** Query of GET /affiliates/stats. Parameters that name a person are refused, as for the referrals. */
export const statsQuery = z.object({ days: queryInteger({ min: 1, max: 366, default: 90 }) })

/** A referral for its affiliate; see `ReferralView`. */
export function toReferral(
  row: Pick<ReferralRow, 'id' | 'amountMinor' | 'currency' | 'status' | 'createdAt' | 'review' | 'rejectedFor'>
): ReferralView {
  const { id, amountMinor, currency, status, createdAt } = row
  return { id, amountMinor, currency, status, createdAtUtc: toIso(createdAt), ...reasonOf(row) }
}
