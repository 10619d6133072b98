import { eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { rawStatement, statement } from '../../platform/db/statements.ts'
import { takeUse } from '../catalog/coupons.ts'
import { coupons } from '../catalog/schema.ts'
import { emailKey } from '../../platform/email-key.ts'

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

const limited = rawStatement<{ orderId: number }, { id: number }>(`
  SELECT mine.id FROM order_coupons mine JOIN coupons c ON c.id = mine.coupon_id
  WHERE mine.order_id = @orderId AND c.max_uses_per_customer IS NOT NULL`)

const overused = rawStatement<{ orderId: number; emailKey: string }, { code: string }>(`
  SELECT mine.code FROM order_coupons mine JOIN coupons c ON c.id = mine.coupon_id
  WHERE mine.order_id = @orderId AND c.max_uses_per_customer <= (
    SELECT count(*) FROM orders o JOIN order_coupons other ON other.order_id = o.id
    WHERE o.email_key = @emailKey AND o.paid_at IS NOT NULL AND o.id <> mine.order_id
      AND other.coupon_id = mine.coupon_id AND other.counted = 1)
  ORDER BY mine.id`)

/** Whether an order has a coupon that each customer may use a limited number of times. */
export function hasCustomerLimit(db: Db, orderId: number): boolean {
  return limited(db).get({ orderId }) !== undefined
}

/** The codes of an order whose limit per customer other paid orders with the same email have reached. */
export function couponsOverLimit(db: Db, orderId: number, email: string): string[] {
  return overused(db)
    .all({ orderId, emailKey: emailKey(email) })
    .map(({ code }) => code)
}

/** Says which codes `couponsOverLimit` found, for an operator; null if there are none. */
export function describeOverLimit(codes: readonly string[]): string | null {
  return codes.length === 0 ? null : `this email address had already used ${codes.join(', ')}`
}
