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

/** Gives back the stock and the coupon uses that an order holds; once, since the rows say what is held. */
export function releaseHoldings(tx: Tx, orderId: number): void {
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

/** Takes again what a released order needs, as far as it is there; says what is not, in words for a person. */
export function reclaimHoldings(tx: Tx, order: OrderRow): string[] {
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
    if (takeCouponUse(tx, coupon, order.emailKey) === 'taken') setCounted(tx).run({ id: coupon.id, counted: 1 })
    else gone.push(`coupon ${coupon.code} is used up`)
  }
  return gone
}
