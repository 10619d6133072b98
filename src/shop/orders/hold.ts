import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import { returnUse } from '../catalog/coupons.ts'
import { returnStock } from '../catalog/stock.ts'
import { takeCouponUse } from './coupon-uses.ts'
import { couponsOf, itemsOf } from './find.ts'
import { takeUnits } from './order-stock.ts'
import type { OrderRow } from './rows.ts'
import { orderCoupons, orderItems } from './schema.ts'

const setStockTaken = statement((orm) =>
  orm
    .update(orderItems)
    .set({ stockTaken: sql`${sql.placeholder('stockTaken')}` })
    .where(eq(orderItems.id, sql.placeholder('id')))
    .prepare()
)
const setCounted = statement((orm) =>
  orm
    .update(orderCoupons)
    .set({ counted: sql`${sql.placeholder('counted')}` })
    .where(eq(orderCoupons.id, sql.placeholder('id')))
    .prepare()
)

/**
 * Returns the stock and coupon uses that an order holds. A second call changes nothing, because the rows record the
 * hold.
 */
export function releaseHold(tx: Tx, orderId: number): void {
  for (const item of itemsOf(tx, orderId)) {
    if (item.stockTaken === 0) continue
    returnStock(tx, item, item.stockTaken)
    setStockTaken(tx).run({ id: item.id, stockTaken: 0 })
  }
  for (const coupon of couponsOf(tx, orderId)) {
    if (coupon.counted === 0) continue
    returnUse(tx, coupon.couponId)
    setCounted(tx).run({ id: coupon.id, counted: 0 })
  }
}

/** Takes the stock and coupon uses of a released order again. Returns a text for each that is not available. */
export function reclaimHold(tx: Tx, order: OrderRow): string[] {
  return [...reclaimStock(tx, order.id), ...reclaimCoupons(tx, order)]
}

function reclaimStock(tx: Tx, orderId: number): string[] {
  const gone: string[] = []
  for (const item of itemsOf(tx, orderId)) {
    const missing = item.quantity - item.stockTaken
    if (missing === 0) continue
    const taken = takeUnits(tx, item, missing)
    if (taken === null) gone.push(`"${item.name}" is out of stock`)
    else setStockTaken(tx).run({ id: item.id, stockTaken: item.stockTaken + taken })
  }
  return gone
}

function reclaimCoupons(tx: Tx, order: OrderRow): string[] {
  const gone: string[] = []
  for (const coupon of couponsOf(tx, order.id)) {
    if (coupon.counted === 1) continue
    if (takeCouponUse(tx, coupon) === 'taken') setCounted(tx).run({ id: coupon.id, counted: 1 })
    else gone.push(`coupon ${coupon.code} is used up`)
  }
  return gone
}
