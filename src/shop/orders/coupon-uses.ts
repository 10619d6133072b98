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

const usesByUser = rawStatement<{ couponId: number; customerKey: string; userId: number }, { uses: number }>(`
  SELECT count(*) AS uses FROM (
    SELECT order_id FROM order_coupons
    WHERE coupon_id = @couponId AND customer_key = @customerKey AND counted = 1
    UNION
    SELECT c.order_id FROM users u
      JOIN orders o ON o.email_key = u.email_key AND o.paid_at IS NOT NULL
      JOIN order_coupons c ON c.order_id = o.id AND c.coupon_id = @couponId
    WHERE u.id = @userId AND u.email_verified_at IS NOT NULL AND c.counted = 1
  )`)

/** The customer whose coupon use an order counts; null while the buyer is unknown. */
export function customerKeyOf({ userId, emailKey }: { userId: number | null; emailKey: string | null }): string | null {
  if (userId !== null) return `user:${userId}`
  return emailKey === null ? null : `email:${emailKey}`
}

export type CouponUse = { couponId: number; customerKey: string | null }

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
  const userId = Number(customerKey.slice('user:'.length))
  return (usesByUser(db).get({ couponId, customerKey, userId })?.uses ?? 0) >= limit
}

/**
 * Counts one use of a coupon, unless the coupon or this customer (`hasReachedLimit`) has no uses left. It runs under the
 * transaction's write lock, so only one of two concurrent orders gets the last use.
 */
export function takeCouponUse(tx: Tx, use: CouponUse): 'taken' | 'used_up' | 'customer_limit' {
  if (hasReachedLimit(tx, use)) return 'customer_limit'
  return takeUse(tx, use.couponId) ? 'taken' : 'used_up'
}
