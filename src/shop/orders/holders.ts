import { sql } from 'drizzle-orm'
import { sqlList } from '../../platform/db/columns.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { insertStatement, rawStatement } from '../../platform/db/statements.ts'
import type { CountedStock } from './order-stock.ts'
import { orderHolders } from './schema.ts'
import { unpaidStatuses } from './states.ts'

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
