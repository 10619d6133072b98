import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { repriceReferral } from '../referrals/reprice.ts'
import { couponRefusals, discountLines, findCouponRefusal } from '../catalog/coupon-rules.ts'
import type { DiscountableLine } from '../catalog/coupon-rules.ts'
import { couponScope, findCoupon } from '../catalog/coupons.ts'
import { coupons } from '../catalog/schema.ts'
import type { CouponRow } from '../catalog/rows.ts'
import { categoryIdsOfProduct } from '../catalog/stored-product.ts'
import { customerKeyOf, takeCouponUse } from './coupon-uses.ts'
import { couponsRefused } from './coupons-refused.ts'
import { couponsOf, getOrder, itemsOf } from './find.ts'
import type { OrderRow } from './rows.ts'
import { orderCoupons, orderItems, orders } from './schema.ts'

/**
 * Gives a pending order one more coupon: its uses are taken, every line's share is worked out anew with the coupons it
 * has, and the sums and its referral follow. The prices of its lines stay as they were ordered.
 *
 * @throws AppError VALIDATION_FAILED (`coupon`) for a code that does not count, CONFLICT for an order that is not pending
 */
export function addCoupon(tx: Tx, orderId: number, code: string, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  if (order.status !== 'pending') throw new AppError('CONFLICT', 'This order cannot be changed any more.')
  const known = couponsOf(tx, orderId)
  const coupon = findCoupon(tx, code)
  if (coupon !== undefined && known.some(({ couponId }) => couponId === coupon.id)) return order
  const lines = linesOf(tx, orderId)
  const scope = coupon === undefined ? { productIds: [], categoryIds: [] } : couponScope(tx, coupon.id)
  const refusal = findCouponRefusal(coupon, scope, { lines, now })
  if (coupon === undefined || refusal !== undefined) throw refused(couponRefusals[refusal ?? 'unknown'])
  takeUse(tx, order, coupon)
  return reprice(tx, order, lines, now)
}

/** The code does not count; who guesses codes is counted by it. */
function refused(message: string): AppError {
  return couponsRefused({ coupon: [message] })
}

function takeUse(tx: Tx, order: OrderRow, { id: couponId, code }: CouponRow): void {
  const customerKey = customerKeyOf(order)
  const outcome = takeCouponUse(tx, { couponId, customerKey }, order.emailKey)
  if (outcome !== 'taken') throw refused(couponRefusals[outcome])
  tx.orm
    .insert(orderCoupons)
    .values({ orderId: order.id, couponId, code, discountMinor: 0, customerKey, counted: 1 })
    .run()
}

function linesOf(db: Db, orderId: number): DiscountableLine[] {
  return itemsOf(db, orderId).map(({ productId, unitPriceMinor, quantity }) => ({
    productId,
    categoryIds: categoryIdsOfProduct(db, productId),
    totalMinor: unitPriceMinor * quantity
  }))
}

function reprice(tx: Tx, order: OrderRow, lines: readonly DiscountableLine[], now: number): OrderRow {
  const carried = couponsOf(tx, order.id)
  const discounts = discountLines(
    lines,
    carried.map(({ couponId }) => ({ ...couponById(tx, couponId), ...couponScope(tx, couponId) })),
    order.currency
  )
  for (const [index, { id }] of carried.entries()) {
    const discountMinor = discounts.byCoupon[index] ?? 0
    tx.orm.update(orderCoupons).set({ discountMinor }).where(eq(orderCoupons.id, id)).run()
  }
  for (const [index, { id, unitPriceMinor, quantity }] of itemsOf(tx, order.id).entries()) {
    const discountMinor = discounts.byLine[index] ?? 0
    const totalMinor = unitPriceMinor * quantity - discountMinor
    tx.orm.update(orderItems).set({ discountMinor, totalMinor }).where(eq(orderItems.id, id)).run()
  }
  const totalMinor = order.subtotalMinor - discounts.totalMinor
  const sums = { discountMinor: discounts.totalMinor, totalMinor, updatedAt: now }
  tx.orm.update(orders).set(sums).where(eq(orders.id, order.id)).run()
  repriceReferral(tx, order.id, totalMinor, now)
  return getOrder(tx, order.id)
}

function couponById(db: Db, id: number): Pick<CouponRow, 'percentBps' | 'amountMinor'> {
  const row = db.orm.select().from(coupons).where(eq(coupons.id, id)).get()
  return { percentBps: row?.percentBps ?? null, amountMinor: row?.amountMinor ?? null }
}
