import { eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { rawStatement, statement } from '../../platform/db/statements.ts'
import { takeUse } from '../catalog/coupons.ts'
import { coupons } from '../catalog/schema.ts'

const customerLimit = statement((orm) =>
  orm
    .select({ limit: coupons.maxUsesPerCustomer })
    .from(coupons)
    .where(eq(coupons.id, sql.placeholder('couponId')))
    .prepare()
)

const usesByCustomer = rawStatement<
  { couponId: number; customerKey: string; emailKey: string | null },
  { uses: number }
>(`
  SELECT count(*) AS uses FROM (
    SELECT order_id FROM order_coupons
    WHERE coupon_id = @couponId AND customer_key = @customerKey AND counted = 1
    UNION
    SELECT c.order_id FROM orders o JOIN order_coupons c ON c.order_id = o.id AND c.coupon_id = @couponId
    WHERE o.email_key = @emailKey AND c.counted = 1
  )`)

/**
 * How many orders of one customer use a coupon, by key and by email: a guest who later buys with an account is the same
 * customer.
 */
export function couponUsesOf(
  db: Db,
  { couponId, customerKey }: { couponId: number; customerKey: string },
  emailKey: string | null
): number {
  return usesByCustomer(db).get({ couponId, customerKey, emailKey })?.uses ?? 0
}

/** The customer whose coupon use an order counts; null while the buyer is unknown. */
export function customerKeyOf({ userId, emailKey }: { userId: number | null; emailKey: string | null }): string | null {
  if (userId !== null) return `user:${userId}`
  return emailKey === null ? null : `email:${emailKey}`
}

export type CouponUse = { couponId: number; customerKey: string | null }

/**
 * Counts one use of a coupon, unless the coupon or this customer has no uses left. It runs under the transaction's
 * write lock, so only one of two concurrent orders gets the last use.
 */
export function takeCouponUse(
  tx: Tx,
  { couponId, customerKey }: CouponUse,
  emailKey: string | null
): 'taken' | 'used_up' | 'customer_limit' {
  const limit = customerLimit(tx).get({ couponId })?.limit ?? null
  if (limit !== null && customerKey !== null) {
    if (couponUsesOf(tx, { couponId, customerKey }, emailKey) >= limit) return 'customer_limit'
  }
  return takeUse(tx, couponId) ? 'taken' : 'used_up'
}
