import { inArray } from 'drizzle-orm'
import { rawStatement } from '../../platform/db/statements.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/email-key.ts'
import { returnUse } from '../catalog/coupons.ts'
import { couponsOf, getOrder } from './find.ts'
import { repriceOrder } from './reprice-order.ts'
import type { OrderRow } from './rows.ts'
import { orderCoupons } from './schema.ts'

const limited = rawStatement<{ orderId: number }, { id: number }>(`
  SELECT mine.id FROM order_coupons mine JOIN coupons c ON c.id = mine.coupon_id
  WHERE mine.order_id = @orderId AND c.max_uses_per_customer IS NOT NULL`)

const overused = rawStatement<
  { orderId: number; emailKey: string; customerKey: string },
  { id: number; code: string }
>(`
  SELECT mine.id, mine.code FROM order_coupons mine JOIN coupons c ON c.id = mine.coupon_id
  WHERE mine.order_id = @orderId AND c.max_uses_per_customer <= (
    SELECT count(DISTINCT other.order_id) FROM order_coupons other JOIN orders o ON o.id = other.order_id
    WHERE other.coupon_id = mine.coupon_id AND other.counted = 1 AND other.order_id <> mine.order_id
      AND (o.email_key = @emailKey OR other.customer_key = @customerKey))
  ORDER BY mine.id`)

/** Whether an order has a coupon that each customer may use a limited number of times. */
export function hasCustomerLimit(db: Db, orderId: number): boolean {
  return limited(db).get({ orderId }) !== undefined
}

/**
 * The coupons of a guest's order that its buyer has used as often as one customer may, now that the email is known. The
 * order's own use does not count.
 */
export function couponsOverLimit(db: Db, orderId: number, email: string): { id: number; code: string }[] {
  const key = emailKey(email)
  return overused(db).all({ orderId, emailKey: key, customerKey: `email:${key}` })
}

/** Takes coupons off a pending order: their uses go back, and the order costs what it costs without them. */
export function removeCoupons(tx: Tx, orderId: number, removed: readonly { id: number }[], now: number): OrderRow {
  const ids = removed.map(({ id }) => id)
  for (const { id, couponId, counted } of couponsOf(tx, orderId)) {
    if (ids.includes(id) && counted === 1) returnUse(tx, couponId)
  }
  tx.orm.delete(orderCoupons).where(inArray(orderCoupons.id, ids)).run()
  return repriceOrder(tx, getOrder(tx, orderId), now)
}
