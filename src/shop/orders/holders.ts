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
  /** A keyed hash of the client address. */
  addressKey: string
}

/** The states of an order that holds stock and coupons without being paid. */
const held = sqlList(unpaidStatuses)

const insertHolder = insertStatement(orderHolders)

const ofBuyer = rawStatement<{ buyer: string }, { id: number }>(`
  SELECT o.id FROM order_holders h JOIN orders o ON o.id = h.order_id
  WHERE h.buyer = @buyer AND o.status = 'pending' ORDER BY o.id`)

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

/** Records who holds a new order. */
export function recordHolder(tx: Tx, orderId: number, holder: Holder): void {
  insertHolder(tx, { orderId, ...holder })
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

/** Deletes the holders of orders that are paid or released. */
export function purgeHolders(tx: Tx): number {
  return tx.orm
    .delete(orderHolders)
    .where(sql`order_id NOT IN (SELECT id FROM orders WHERE status IN (${sql.raw(held)}))`)
    .run().changes
}
