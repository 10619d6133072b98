import { and, asc, eq, isNotNull, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/text.ts'
import { findUserById } from '../accounts/find.ts'
import { takeUse } from '../catalog/coupons.ts'
import { coupons } from '../catalog/schema.ts'
import { orderCoupons, orders } from './schema.ts'

const customerLimit = statement((orm) =>
  orm
    .select({ limit: coupons.maxUsesPerCustomer })
    .from(coupons)
    .where(eq(coupons.id, sql.placeholder('couponId')))
    .prepare()
)

/** The customer whose coupon use an order counts; null while the buyer is unknown. */
export function customerKeyOf({ userId, emailKey }: { userId: number | null; emailKey: string | null }): string | null {
  if (userId !== null) return `user:${userId}`
  return emailKey === null ? null : `email:${emailKey}`
}

export type CouponUse = { couponId: number; customerKey: string | null }

/**
 * Counts one use of a coupon, unless the coupon or this customer (`hasReachedLimit`) has no uses left. It runs under the
 * transaction's write lock, so only one of two concurrent orders gets the last use.
 */
export function takeCouponUse(tx: Tx, use: CouponUse): 'taken' | 'used_up' | 'customer_limit' {
  if (hasReachedLimit(tx, use)) return 'customer_limit'
  return takeUse(tx, use.couponId) ? 'taken' : 'used_up'
}

/**
 * Whether an account has used a coupon as often as each customer may.
 *
 * Only an account's own uses count here, and what was paid with its email if that is verified. The email that a guest
 * enters may be another person's: a refusal would tell whether that person has bought. A payment checks it
 * (`couponsOverLimit`).
 */
export function hasReachedLimit(db: Db, { couponId, customerKey }: CouponUse): boolean {
  if (customerKey?.startsWith('user:') !== true) return false
  const limit = customerLimit(db).get({ couponId })?.limit ?? null
  if (limit === null) return false
  const user = findUserById(db, Number(customerKey.slice('user:'.length)))
  const byEmail = user === undefined || user.emailVerifiedAt === null ? [] : paidUses(db, couponId, user.emailKey)
  return new Set([...usesOf(db, couponId, customerKey), ...byEmail]).size >= limit
}

/** Whether an order has a coupon that each customer may use a limited number of times. */
export function hasCustomerLimit(db: Db, orderId: number): boolean {
  return limitedCoupons(db, orderId).length > 0
}

/** The codes of an order whose limit per customer other paid orders with the same email have reached. */
export function couponsOverLimit(db: Db, orderId: number, email: string): string[] {
  const usedBefore = (couponId: number): number[] =>
    paidUses(db, couponId, emailKey(email)).filter((id) => id !== orderId)
  return limitedCoupons(db, orderId)
    .filter(({ couponId, limit }) => limit !== null && usedBefore(couponId).length >= limit)
    .map(({ code }) => code)
}

/** Says which codes `couponsOverLimit` found, for an operator; null if there are none. */
export function describeOverLimit(codes: readonly string[]): string | null {
  return codes.length === 0 ? null : `this email address had already used ${codes.join(', ')}`
}

function limitedCoupons(db: Db, orderId: number) {
  return db.orm
    .select({ couponId: coupons.id, code: orderCoupons.code, limit: coupons.maxUsesPerCustomer })
    .from(orderCoupons)
    .innerJoin(coupons, eq(coupons.id, orderCoupons.couponId))
    .where(and(eq(orderCoupons.orderId, orderId), isNotNull(coupons.maxUsesPerCustomer)))
    .orderBy(asc(orderCoupons.id))
    .all()
}

const isUse = (couponId: number) => and(eq(orderCoupons.couponId, couponId), eq(orderCoupons.counted, 1))

/** The orders that count as a customer's use of a coupon. */
function usesOf(db: Db, couponId: number, customerKey: string): number[] {
  return db.orm
    .select({ orderId: orderCoupons.orderId })
    .from(orderCoupons)
    .where(and(isUse(couponId), eq(orderCoupons.customerKey, customerKey)))
    .all()
    .map(({ orderId }) => orderId)
}

/** The paid orders with an email that count as a use of a coupon. */
function paidUses(db: Db, couponId: number, emailKey: string): number[] {
  return (
    db.orm
      .select({ orderId: orders.id })
      .from(orders)
      .innerJoin(orderCoupons, eq(orderCoupons.orderId, orders.id))
      // The plus keeps SQLite from reading all uses of the coupon.
      .where(
        and(
          eq(orders.emailKey, emailKey),
          isNotNull(orders.paidAt),
          sql`+${orderCoupons.couponId} = ${couponId}`,
          eq(orderCoupons.counted, 1)
        )
      )
      .all()
      .map(({ orderId }) => orderId)
  )
}
