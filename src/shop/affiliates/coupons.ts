import { asc, eq, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { statement, write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { findUserById } from '../accounts/find.ts'
import { createCoupon } from '../catalog/apply-catalog.ts'
import { getCoupon } from '../catalog/coupons.ts'
import type { CouponInput } from '../catalog/import/format.ts'
import type { CouponRow } from '../catalog/rows.ts'
import { coupons } from '../catalog/schema.ts'
import { emit } from '../webhooks/emit.ts'
import { findAffiliateById, getAffiliate } from './find.ts'
import type { AffiliateRow } from './find.ts'
import { affiliateCoupons } from './schema.ts'

const ownerOf = statement((orm) =>
  orm
    .select({ affiliateId: affiliateCoupons.affiliateId })
    .from(affiliateCoupons)
    .where(eq(affiliateCoupons.couponId, sql.placeholder('couponId')))
    .prepare()
)

/** The affiliate who is credited with the orders of a coupon. */
export function findCouponAffiliate(db: Db, couponId: number): AffiliateRow | undefined {
  const row = ownerOf(db).get({ couponId })
  return row === undefined ? undefined : findAffiliateById(db, row.affiliateId)
}

/** The coupons of an affiliate, ordered by code. */
export function couponsOfAffiliate(db: Db, affiliateId: number): Pick<CouponRow, 'id' | 'code' | 'enabled'>[] {
  return db.orm
    .select({ id: coupons.id, code: coupons.code, enabled: coupons.enabled })
    .from(affiliateCoupons)
    .innerJoin(coupons, eq(coupons.id, affiliateCoupons.couponId))
    .where(eq(affiliateCoupons.affiliateId, affiliateId))
    .orderBy(asc(coupons.codeKey))
    .all()
}

/**
 * Creates a coupon that belongs to an affiliate.
 *
 * @param ref the affiliate's code or id
 * @throws AppError NOT_FOUND, and as `createCoupon` and `setCouponAffiliate`
 */
export function createAffiliateCoupon(db: Db, input: CouponInput, ref: string, now: number): CouponRow {
  return write(db, (tx) => {
    const affiliate = getAffiliate(tx, ref)
    const coupon = createCoupon(tx, input, now)
    giveCoupon(tx, coupon, affiliate, now)
    return coupon
  })
}

/**
 * Makes a coupon belong to an affiliate, or to none. It counts for orders from now on.
 *
 * @param ref the affiliate's code or id; null for none
 * @throws AppError NOT_FOUND; CONFLICT for an erased affiliate, and for the coupon of one: its code is still out there, and
 *   must not earn for another person
 */
export function setCouponAffiliate(db: Db, code: string, ref: string | null, now: number): CouponRow {
  return write(db, (tx) => {
    const coupon = getCoupon(tx, code)
    if (ref === null) takeCoupon(tx, coupon, now)
    else giveCoupon(tx, coupon, getAffiliate(tx, ref), now)
    return coupon
  })
}

/** As `setCouponAffiliate`. The same affiliate again changes nothing. */
export function giveCoupon(tx: Tx, coupon: CouponRow, affiliate: AffiliateRow, now: number): boolean {
  const owner = findCouponAffiliate(tx, coupon.id)
  if (owner?.id === affiliate.id) return false
  if (isErased(tx, affiliate)) throw new AppError('CONFLICT', 'The account of this affiliate is erased.')
  takeCoupon(tx, coupon, now)
  tx.orm.insert(affiliateCoupons).values({ couponId: coupon.id, affiliateId: affiliate.id, createdAt: now }).run()
  emit(tx, 'affiliate.coupon_added', { affiliateId: affiliate.id, couponId: coupon.id, code: coupon.code }, now)
  return true
}

function takeCoupon(tx: Tx, { id: couponId, code }: CouponRow, now: number): void {
  const owner = findCouponAffiliate(tx, couponId)
  if (owner === undefined) return
  if (isErased(tx, owner))
    throw new AppError('CONFLICT', `The coupon ${code} belongs to an affiliate whose account is erased.`)
  tx.orm.delete(affiliateCoupons).where(eq(affiliateCoupons.couponId, couponId)).run()
  emit(tx, 'affiliate.coupon_removed', { affiliateId: owner.id, couponId, code }, now)
}

function isErased(db: Db, { userId }: AffiliateRow): boolean {
  return findUserById(db, userId)?.status === 'erased'
}
