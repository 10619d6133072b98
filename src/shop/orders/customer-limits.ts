import { rawStatement } from '../../platform/db/statements.ts'
import type { Db } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/email-key.ts'

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
