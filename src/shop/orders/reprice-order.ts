import { eq } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { discountLines } from '../catalog/coupon-rules.ts'
import type { DiscountableLine } from '../catalog/coupon-rules.ts'
import { couponScope } from '../catalog/coupons.ts'
import type { CouponRow } from '../catalog/rows.ts'
import { coupons } from '../catalog/schema.ts'
import { categoryIdsOfProduct } from '../catalog/stored-product.ts'
import { repriceReferral } from '../referrals/reprice.ts'
import { couponsOf, getOrder, itemsOf } from './find.ts'
import { pricesFor } from './line-prices.ts'
import type { OrderRow } from './rows.ts'
import { orderCoupons, orderItems, orders } from './schema.ts'

/** The lines of an order before discounts, in their order. */
export function discountableLines(db: Db, orderId: number): DiscountableLine[] {
  return itemsOf(db, orderId).map(({ productId, unitPriceMinor, quantity }) => ({
    productId,
    categoryIds: categoryIdsOfProduct(db, productId),
    totalMinor: unitPriceMinor * quantity
  }))
}

/**
 * Distributes the discounts of the coupons that an order now has over its lines; the sums and the referral follow. The
 * prices of the lines stay as they were ordered.
 */
export function repriceOrder(tx: Tx, order: OrderRow, now: number): OrderRow {
  const lines = discountableLines(tx, order.id)
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

/**
 * Changes the total of an unpaid order to what its buyer has really paid; the lines and the referral follow. What its
 * coupons took off stays as it was ordered.
 */
export function takePaidTotal(tx: Tx, order: OrderRow, totalMinor: number, now: number): OrderRow {
  const lines = itemsOf(tx, order.id)
  const prices = pricesFor(lines, totalMinor)
  for (const [index, { id }] of lines.entries())
    tx.orm
      .update(orderItems)
      .set(prices[index] ?? {})
      .where(eq(orderItems.id, id))
      .run()
  const discountMinor = prices.reduce((sum, price) => sum + price.discountMinor, 0)
  const sums = { subtotalMinor: totalMinor + discountMinor, discountMinor, totalMinor, updatedAt: now }
  tx.orm.update(orders).set(sums).where(eq(orders.id, order.id)).run()
  repriceReferral(tx, order.id, totalMinor, now)
  return getOrder(tx, order.id)
}

function couponById(db: Db, id: number): Pick<CouponRow, 'percentBps' | 'amountMinor'> {
  const row = db.orm.select().from(coupons).where(eq(coupons.id, id)).get()
  return { percentBps: row?.percentBps ?? null, amountMinor: row?.amountMinor ?? null }
}
