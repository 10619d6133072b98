import { eq, sql, and, asc, gt, lte, or } from 'drizzle-orm'
import type { Tx, Db } from '../../platform/db/database.ts'
import { statement, rawStatement, insertStatement } from '../../platform/db/statements.ts'
import { returnUse } from '../catalog/coupons.ts'
import { returnStock, takeStock } from '../catalog/stock.ts'
import { takeCouponUse } from './coupon-uses.ts'
import { couponsOf, itemsOf } from './find.ts'
import type { OrderRow } from './find.ts'
import { orderCoupons, orderItems, orderHolders, orders } from './schema.ts'
import { sqlList } from '../../platform/db/columns.ts'
import { unpaidStatuses } from './states.ts'
import { setBackMs } from '../../platform/clock.ts'

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

type Wanted = { productId: number; variationId: number | null }

const stockOf = rawStatement<Wanted, { stock: number | null; ofVariation: 0 | 1 }>(`
  SELECT coalesce(v.stock, p.stock) AS stock, v.stock IS NOT NULL AS ofVariation
  FROM products p LEFT JOIN variations v ON v.id = @variationId AND v.product_id = p.id
  WHERE p.id = @productId AND (@variationId IS NULL OR v.id IS NOT NULL)`)

/** A counted stock: that of a variation, or that of a product, which its variations without a stock share. */
export type CountedStock = { productId: number; variationId: number | null; units: number }

/** The stock that a line draws on; null if it is not counted. */
export function countedStock(db: Db, { productId, variationId }: Wanted): CountedStock | null {
  const found = stockOf(db).get({ productId, variationId })
  if (found === undefined || found.stock === null) return null
  return { productId, variationId: found.ofVariation === 1 ? variationId : null, units: found.stock }
}

/**
 * Takes units from the stock and returns how many were taken; null when there are too few. It is 0 when the stock is
 * not counted, so that nothing is returned if counting begins before the order is released.
 */
export function takeUnits(tx: Tx, { productId, variationId }: Wanted, quantity: number): number | null {
  const stored = stockOf(tx).get({ productId, variationId })
  if (stored === undefined) return null
  if (stored.stock === null) return 0
  return takeStock(tx, { productId, variationId }, quantity) ? quantity : null
}

/** Who holds the stock and coupons of an unpaid order, for the limits on what one buyer or one address can hold. */
export type Holder = {
  /** `user:7`, or `guest:` and the hash of the checkout cookie. Never a typed email, which may be another person's. */
  buyer: string
  isGuest: boolean
  /** The `guest:` buyer of the checkout cookie of a customer, who may have placed an order before logging in. */
  cookieBuyer: string | null
  /** A keyed hash of the client address. */
  addressKey: string
}

/** The states of an order that holds stock and coupons without being paid. */
const held = sqlList(unpaidStatuses)

const insertHolder = insertStatement(orderHolders)

const deleteHolder = rawStatement<[number]>('DELETE FROM order_holders WHERE order_id = ?')

const ofBuyer = rawStatement<{ buyer: string }, { id: number }>(`
  SELECT o.id FROM order_holders h JOIN orders o ON o.id = h.order_id
  WHERE h.buyer = @buyer AND o.status = 'pending' ORDER BY o.id`)

const sameCart = rawStatement<{ buyer: string; cartKey: string; until: number }, { id: number }>(`
  SELECT o.id FROM order_holders h JOIN orders o ON o.id = h.order_id
  WHERE h.buyer = @buyer AND h.cart_key = @cartKey AND o.paid_at IS NULL AND o.hold_ends_at > @until
    AND (o.status = 'failed' OR (o.status = 'pending' AND o.strategy = 'redirect_to_store'))
  ORDER BY o.id DESC LIMIT 1`)

const atAddress = rawStatement<{ addressKey: string }, { count: number }>(`
  SELECT count(*) AS count FROM order_holders h JOIN orders o ON o.id = h.order_id
  WHERE h.address_key = @addressKey AND o.status IN (${held})`)

const unitsOfGuests = rawStatement<
  { addressKey: string; productId: number; variationId: number | null },
  { units: number | null }
>(`
  SELECT sum(i.stock_taken) AS units
  FROM order_holders h JOIN orders o ON o.id = h.order_id JOIN order_items i ON i.order_id = o.id
  WHERE h.address_key = @addressKey AND h.is_guest = 1 AND o.status IN (${held})
    AND i.product_id = @productId AND CASE WHEN @variationId IS NOT NULL THEN i.variation_id = @variationId
      ELSE NOT EXISTS (SELECT 1 FROM variations v WHERE v.id = i.variation_id AND v.stock IS NOT NULL) END`)

/**
 * The buyer's newest unpaid order for the same cart whose hold lasts until `until`; undefined if there is none. A payment
 * by token is continued only after it failed, because a second one must not start beside it.
 */
export function findSameCart(db: Db, same: { buyer: string; cartKey: string; until: number }): number | undefined {
  return sameCart(db).get(same)?.id
}

/** Records who holds a new order, and its cart. */
export function recordHolder(tx: Tx, orderId: number, holder: Holder, cartKey: string): void {
  const { buyer, isGuest, addressKey } = holder
  insertHolder(tx, { orderId, buyer, isGuest, addressKey, cartKey })
}

/** A buyer's pending orders, the oldest first. */
export function pendingOrdersOf(db: Db, buyer: string): number[] {
  return ofBuyer(db)
    .all({ buyer })
    .map(({ id }) => id)
}

/** How many unpaid orders hold something for one address. */
export function countHeldAt(db: Db, addressKey: string): number {
  return atAddress(db).get({ addressKey })?.count ?? 0
}

/** How many units of a stock the unpaid orders of one address's guests hold. */
export function unitsHeldByGuests(db: Db, addressKey: string, { productId, variationId }: CountedStock): number {
  return unitsOfGuests(db).get({ addressKey, productId, variationId })?.units ?? 0
}

/** Deletes the holder of an order, which then does not count for the limits. */
export function dropHolder(tx: Tx, orderId: number): void {
  deleteHolder(tx).run(orderId)
}

/** Deletes the holders of orders that are paid or released, at most `limit` of them. Returns how many. */
export function purgeHolders(tx: Tx, _now: number, limit: number): number {
  return tx.orm
    .delete(orderHolders)
    .where(sql`order_id NOT IN (SELECT id FROM orders WHERE status IN (${sql.raw(held)}))`)
    .limit(limit)
    .run().changes
}

/** The maximum of `checkout.holdMinutes`. */
const longestHoldMs = 24 * 60 * 60_000 + setBackMs

const overdue = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    // Written as in the partial index, otherwise SQLite does not use it.
    .where(
      and(
        sql`status = 'pending'`,
        or(
          lte(orders.holdEndsAt, sql.placeholder('until')),
          and(gt(orders.holdEndsAt, sql.placeholder('longest')), gt(orders.createdAt, sql.placeholder('future')))
        )
      )
    )
    .orderBy(asc(orders.holdEndsAt), asc(orders.id))
    .prepare()
)

/**
 * The ids of pending orders whose hold ended at least `sinceMs` ago, the most overdue first. They include orders from
 * the future, which were placed while the clock was ahead and would hold their stock too long. `endHold` in payments
 * decides whether an order ends: not while its payment is processing or waits for the bank.
 */
export function overdueOrders(db: Db, now: number, sinceMs = 0): number[] {
  return overdue(db)
    .all({ until: now - sinceMs, longest: now + longestHoldMs, future: now + setBackMs })
    .map(({ id }) => id)
}

/** Extends an order's hold to at least `until`; a hold that ends later does not change. */
export function extendHold(tx: Tx, order: OrderRow, until: number): OrderRow {
  const holdEndsAt = Math.max(order.holdEndsAt ?? 0, until)
  tx.orm.update(orders).set({ holdEndsAt }).where(eq(orders.id, order.id)).run()
  return { ...order, holdEndsAt }
}
