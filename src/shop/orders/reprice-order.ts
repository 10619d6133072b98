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
import { netGoodsMinor, toColumns, totalsOf } from './totals.ts'
import type { Totals } from './totals.ts'

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
  return storeSums(tx, order.id, totalsOf(itemsOf(tx, order.id), order), now)
}

/**
 * Changes the total of an unpaid order to what its buyer has really paid; the lines and the referral follow. The shipping
 * costs what was ordered, unless less than that was paid. What its coupons took off stays as it was ordered.
 */
export function takePaidTotal(tx: Tx, order: OrderRow, totalMinor: number, now: number): OrderRow {
  const lines = itemsOf(tx, order.id)
  const shippingMinor = Math.min(order.shippingMinor, totalMinor)
  const prices = pricesFor(lines, totalMinor - shippingMinor)
  for (const [index, { id }] of lines.entries())
    tx.orm
      .update(orderItems)
      .set(prices[index] ?? {})
      .where(eq(orderItems.id, id))
      .run()
  return storeSums(tx, order.id, totalsOf(prices, { shippingMinor }), now)
}

function storeSums(tx: Tx, orderId: number, totals: Totals, now: number): OrderRow {
  tx.orm
    .update(orders)
    .set({ ...toColumns(totals), updatedAt: now })
    .where(eq(orders.id, orderId))
    .run()
  const order = getOrder(tx, orderId)
  repriceReferral(tx, orderId, netGoodsMinor(order), now)
  return order
}

function couponById(db: Db, id: number): Pick<CouponRow, 'percentBps' | 'amountMinor'> {
  const row = db.orm.select().from(coupons).where(eq(coupons.id, id)).get()
  return { percentBps: row?.percentBps ?? null, amountMinor: row?.amountMinor ?? null }
}
