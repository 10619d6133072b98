import { and, asc, count, desc, eq, exists, gt, inArray, isNotNull, isNull, not, or, sql, sum } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { setBackMs } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { insertion } from '../../platform/db/insert.ts'
import { returnUse } from '../catalog/coupons.ts'
import { products, variations } from '../catalog/schema.ts'
import { returnStock, takeStock } from '../catalog/stock.ts'
import { takeCouponUse } from './coupon-uses.ts'
import { couponsOf, itemsOf } from './find.ts'
import type { OrderRow } from './find.ts'
import type { RefundLineRow } from './refunds/refund-lines.ts'
import { refundLines } from './refunds/schema.ts'
import { orderCoupons, orderHolders, orderItems, orders } from './schema.ts'
import { unpaidStatuses } from './states.ts'

/**
 * Returns the stock and coupon uses that an order holds. A second call changes nothing, because the rows record the
 * hold.
 */
export function releaseHold(tx: Tx, orderId: number): void {
  for (const item of itemsOf(tx, orderId)) {
    if (item.stockTaken === 0) continue
    returnStock(tx, item, item.stockTaken)
    setStockTaken(tx, item.id, 0)
  }
  for (const coupon of couponsOf(tx, orderId)) {
    if (coupon.counted === 0) continue
    returnUse(tx, coupon.couponId)
    setCounted(tx, coupon.id, 0)
  }
}

/** Returns to the stock what a refund gives back: by default what never left the shop. */
export function releaseReturned(tx: Tx, orderId: number, lines: readonly RefundLineRow[]): void {
  for (const item of itemsOf(tx, orderId)) {
    const line = lines.find(({ orderItemId }) => orderItemId === item.id)
    if (line === undefined) continue
    const released = Math.min(line.quantity, item.stockTaken)
    const restock = line.restock ?? released
    if (restock > 0) returnStock(tx, item, restock)
    setStockTaken(tx, item.id, item.stockTaken - released)
    tx.orm.update(refundLines).set({ restock, released }).where(eq(refundLines.id, line.id)).run()
  }
}

/** Takes what a failed refund had given back from the stock again, as far as it is there. */
export function takeReturnedAgain(tx: Tx, orderId: number, lines: readonly RefundLineRow[]): void {
  for (const item of itemsOf(tx, orderId)) {
    const { released = 0, restock = 0 } = lines.find(({ orderItemId }) => orderItemId === item.id) ?? {}
    const back = Math.min(released, restock ?? 0)
    const taken = back > 0 ? (takeUnits(tx, item, back) ?? 0) : 0
    if (released > 0) setStockTaken(tx, item.id, item.stockTaken + released - back + taken)
  }
}

/** Records that units of a line item have left the shop, so that no end of the order returns them to the stock. */
export function handOver(tx: Tx, itemId: number, quantity: number): void {
  const stockTaken = sql`max(0, ${orderItems.stockTaken} - ${quantity})`
  tx.orm.update(orderItems).set({ stockTaken }).where(eq(orderItems.id, itemId)).run()
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
    else setStockTaken(tx, item.id, item.stockTaken + taken)
  }
  return gone
}

function reclaimCoupons(tx: Tx, order: OrderRow): string[] {
  const gone: string[] = []
  // The discount of an addition is that of the order which it adds to, and counts there.
  if (order.addedTo !== null) return gone
  for (const coupon of couponsOf(tx, order.id)) {
    if (coupon.counted === 1) continue
    if (takeCouponUse(tx, coupon) === 'taken') setCounted(tx, coupon.id, 1)
    else gone.push(`coupon ${coupon.code} is used up`)
  }
  return gone
}

function setStockTaken(tx: Tx, itemId: number, stockTaken: number): void {
  tx.orm.update(orderItems).set({ stockTaken }).where(eq(orderItems.id, itemId)).run()
}

function setCounted(tx: Tx, orderCouponId: number, counted: 0 | 1): void {
  tx.orm.update(orderCoupons).set({ counted }).where(eq(orderCoupons.id, orderCouponId)).run()
}

type Wanted = { productId: number; variationId: number | null }

const productStock = statement((orm) =>
  orm
    .select({ stock: products.stock })
    .from(products)
    .where(eq(products.id, sql.placeholder('productId')))
    .prepare()
)
const variationStock = statement((orm) =>
  orm
    .select({ stock: variations.stock, shared: products.stock })
    .from(variations)
    .innerJoin(products, eq(products.id, variations.productId))
    .where(and(eq(variations.id, sql.placeholder('variationId')), eq(products.id, sql.placeholder('productId'))))
    .prepare()
)

/** A counted stock: that of a variation, or that of a product, which its variations without a stock share. */
export type CountedStock = { productId: number; variationId: number | null; units: number }

/** The stock that a line draws on; null if it is not counted, and undefined if there is no such product or variation. */
function stockOf(db: Db, { productId, variationId }: Wanted): CountedStock | null | undefined {
  const own = variationId === null ? undefined : variationStock(db).get({ productId, variationId })
  if (variationId !== null && own === undefined) return undefined
  if (own !== undefined && own.stock !== null) return { productId, variationId, units: own.stock }
  const shared = own === undefined ? productStock(db).get({ productId })?.stock : own.shared
  return typeof shared === 'number' ? { productId, variationId: null, units: shared } : shared
}

/** The stock that a line draws on; null if it is not counted. */
export function countedStock(db: Db, wanted: Wanted): CountedStock | null {
  return stockOf(db, wanted) ?? null
}

/**
 * Takes units from the stock and returns how many were taken; null when there are too few. It is 0 when the stock is
 * not counted, so that nothing is returned if counting begins before the order is released.
 */
export function takeUnits(tx: Tx, { productId, variationId }: Wanted, quantity: number): number | null {
  const stock = stockOf(tx, { productId, variationId })
  if (stock === undefined) return null
  if (stock === null) return 0
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

/** Matches the orders that hold stock and coupons without being paid. */
const isHeld = inArray(orders.status, [...unpaidStatuses])

/** Matches the line items that draw on a product's own stock, which its variations without a stock share. */
const sharesStock = or(
  isNull(orderItems.variationId),
  not(
    exists(
      sql`(SELECT 1 FROM ${variations} WHERE ${variations.id} = ${orderItems.variationId} AND ${isNotNull(variations.stock)})`
    )
  )
)

/** The page of a continued order must stay open for a while. */
const shortestHoldMs = 5 * 60_000
const isOnPage = and(eq(orders.status, 'pending'), eq(orders.strategy, 'redirect_to_store'))
const continued = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orderHolders)
    .innerJoin(orders, eq(orders.id, orderHolders.orderId))
    .where(
      and(
        eq(orderHolders.buyer, sql.placeholder('buyer')),
        eq(orderHolders.cartKey, sql.placeholder('cartKey')),
        isNull(orders.paidAt),
        gt(orders.holdEndsAt, sql.placeholder('until')),
        or(eq(orders.status, 'failed'), isOnPage)
      )
    )
    .orderBy(desc(orders.id))
    .limit(1)
    .prepare()
)

/**
 * The buyer's newest unpaid order for the same cart, which a checkout continues; undefined if there is none. A payment by
 * token is continued only after it failed, because a second one must not start beside it.
 */
export function findContinuedOrder(
  db: Db,
  { buyer }: Pick<Holder, 'buyer'>,
  cartKey: string,
  now: number
): number | undefined {
  return continued(db).get({ buyer, cartKey, until: now + shortestHoldMs })?.id
}

const newHolder = insertion(orderHolders)

/** Records who holds a new order, and its cart. */
export function recordHolder(tx: Tx, orderId: number, holder: Holder, cartKey: string): void {
  const { buyer, isGuest, addressKey } = holder
  newHolder.run(tx, { orderId, buyer, isGuest, addressKey, cartKey })
}

const pendingOf = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orderHolders)
    .innerJoin(orders, eq(orders.id, orderHolders.orderId))
    // The plus keeps SQLite from reading all pending orders of the shop.
    .where(and(eq(orderHolders.buyer, sql.placeholder('buyer')), sql`+${orders.status} = 'pending'`))
    .orderBy(asc(orders.id))
    .prepare()
)
const heldAt = statement((orm) =>
  orm
    .select({ count: count() })
    .from(orderHolders)
    .innerJoin(orders, eq(orders.id, orderHolders.orderId))
    .where(and(eq(orderHolders.addressKey, sql.placeholder('addressKey')), isHeld))
    .prepare()
)

const freeAt = statement((orm) =>
  orm
    .select({ count: count() })
    .from(orderHolders)
    .innerJoin(orders, eq(orders.id, orderHolders.orderId))
    .where(
      and(
        eq(orderHolders.addressKey, sql.placeholder('addressKey')),
        eq(orderHolders.isGuest, true),
        sql`+${orders.totalMinor} = 0`,
        gt(orders.paidAt, sql.placeholder('since'))
      )
    )
    .prepare()
)

const heldBy = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orderHolders)
    .innerJoin(orders, eq(orders.id, orderHolders.orderId))
    .where(and(eq(orderHolders.buyer, sql.placeholder('buyer')), isHeld))
    .limit(1)
    .prepare()
)

const holderOf = statement((orm) =>
  orm
    .select({ buyer: orderHolders.buyer })
    .from(orderHolders)
    .where(eq(orderHolders.orderId, sql.placeholder('orderId')))
    .prepare()
)

/** The buyer who placed an order (`Holder`), until some time after it was paid or released. */
export function findHolder(db: Db, orderId: number): string | undefined {
  return holderOf(db).get({ orderId })?.buyer
}

/** A buyer's pending orders, the oldest first. */
export function pendingOrdersOf(db: Db, buyer: string): number[] {
  return pendingOf(db)
    .all({ buyer })
    .map(({ id }) => id)
}

/** Whether a buyer has an unpaid order. */
export function holdsAnOrder(db: Db, buyer: string): boolean {
  return heldBy(db).get({ buyer }) !== undefined
}

/** How many unpaid orders hold something for one address. */
export function countHeldAt(db: Db, addressKey: string): number {
  return heldAt(db).get({ addressKey })?.count ?? 0
}

/** How many orders that cost nothing the guests of one address have completed since a time (epoch ms). */
export function countFreeAt(db: Db, addressKey: string, since: number): number {
  return freeAt(db).get({ addressKey, since })?.count ?? 0
}

/** How many units of a stock the unpaid orders of one address's guests hold. */
export function unitsHeldByGuests(db: Db, addressKey: string, { productId, variationId }: CountedStock): number {
  const ofGuests = and(eq(orderHolders.addressKey, addressKey), eq(orderHolders.isGuest, true), isHeld)
  const ofStock = variationId === null ? sharesStock : eq(orderItems.variationId, variationId)
  const found = db.orm
    .select({ units: sum(orderItems.stockTaken).mapWith(Number) })
    .from(orderHolders)
    .innerJoin(orders, eq(orders.id, orderHolders.orderId))
    .innerJoin(orderItems, eq(orderItems.orderId, orders.id))
    // The plus keeps SQLite from reading every sale of the product.
    .where(and(ofGuests, sql`+${orderItems.productId} = ${productId}`, ofStock))
    .get()
  return found?.units ?? 0
}

/** Deletes the holder of an order, which then does not count for the limits. */
export function dropHolder(tx: Tx, orderId: number): void {
  tx.orm.delete(orderHolders).where(eq(orderHolders.orderId, orderId)).run()
}

/**
 * Deletes the holders of orders that are paid or released, among the next `limit` after an order. Returns the last of
 * these orders, or null when there are no more.
 */
export function purgeHolders(tx: Tx, { after, limit }: { after: number; limit: number }): number | null {
  const next = tx.orm
    .select({ id: orders.id, isHeld: sql<number>`${isHeld}` })
    .from(orderHolders)
    .innerJoin(orders, eq(orders.id, orderHolders.orderId))
    .where(gt(orderHolders.orderId, after))
    .orderBy(asc(orderHolders.orderId))
    .limit(limit)
    .all()
  const ended = next.filter(({ isHeld: held }) => held === 0).map(({ id }) => id)
  if (ended.length > 0) tx.orm.delete(orderHolders).where(inArray(orderHolders.orderId, ended)).run()
  return next.length < limit ? null : (next.at(-1)?.id ?? null)
}

/** The maximum of `checkout.holdMinutes`. */
const longestHoldMs = 24 * 60 * 60_000 + setBackMs

/** Pending orders by the end of their hold. The index is named: SQLite would rather read all that are pending. */
const heldWhere = (test: SQL): SQL =>
  inArray(orders.id, sql`(SELECT id FROM orders INDEXED BY orders_held WHERE status = 'pending' AND ${test})`)
const overdue = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    .where(heldWhere(sql`hold_ends_at <= ${sql.placeholder('until')}`))
    .orderBy(asc(orders.holdEndsAt), asc(orders.id))
    .prepare()
)
const fromTheFuture = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    .where(heldWhere(sql`hold_ends_at > ${sql.placeholder('longest')} AND created_at > ${sql.placeholder('future')}`))
    .orderBy(asc(orders.holdEndsAt), asc(orders.id))
    .prepare()
)

/**
 * The ids of pending orders whose hold ended at least `sinceMs` ago, the most overdue first. They include orders from
 * the future, which were placed while the clock was ahead and would hold their stock too long. `endHold` in payments
 * decides whether an order ends: not while its payment is processing or waits for the bank.
 */
export function overdueOrders(db: Db, now: number, sinceMs = 0): number[] {
  const late = overdue(db).all({ until: now - sinceMs })
  const ahead = fromTheFuture(db).all({ longest: now + longestHoldMs, future: now + setBackMs })
  return [...late, ...ahead].map(({ id }) => id)
}

/** Extends an order's hold to at least `until`; a hold that ends later does not change. */
export function extendHold(tx: Tx, order: OrderRow, until: number): OrderRow {
  const holdEndsAt = Math.max(order.holdEndsAt ?? 0, until)
  tx.orm.update(orders).set({ holdEndsAt }).where(eq(orders.id, order.id)).run()
  return { ...order, holdEndsAt }
}
