import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement, rowStatement, rowsStatement } from '../../platform/db/statements.ts'
import { orderAttributions, orderCoupons, orderHistory, orderItems, orders } from './schema.ts'
import { and, count, eq, isNull } from 'drizzle-orm'
import type { Placeholder, SQL } from 'drizzle-orm'

const orderById = rowStatement(orders, 'id = ?')
const anyOrder = rawStatement<[], { id: number }>('SELECT id FROM orders LIMIT 1')
const orderByPublicToken = rowStatement(orders, 'public_token = ?')
/** The lines of an order, in their order. */
export const itemsOf = rowsStatement(orderItems, 'order_id = ? ORDER BY id')
export const couponsOf = rowsStatement(orderCoupons, 'order_id = ? ORDER BY id')
export const findAttribution = rowStatement(orderAttributions, 'order_id = ?')
/** The audit rows of an order, oldest first. */
export const historyOf = rowsStatement(orderHistory, 'order_id = ? ORDER BY id')

/** The newest row of the history that changed the state: rows of partial refunds do not. */
export function lastMoveOf(db: Db, orderId: number): ReturnType<typeof historyOf>[number] | undefined {
  return historyOf(db, orderId).findLast(({ from, to }) => from !== to)
}

/** The order with an id. */
export function findOrder(db: Db, id: number): OrderRow | undefined {
  return orderById(db, id)
}

/** The order with an id. @throws AppError NOT_FOUND */
export function getOrder(db: Db, id: number): OrderRow {
  const order = findOrder(db, id)
  if (order === undefined) throw new AppError('NOT_FOUND', `Order ${id} does not exist.`)
  return order
}

/** Whether the shop has any order. */
export function hasOrders(db: Db): boolean {
  return anyOrder(db).get() !== undefined
}

/**
 * The order of a hosted page's address.
 *
 * @throws AppError NOT_FOUND
 */
export function getOrderByPublicToken(db: Db, publicToken: string): OrderRow {
  const order = orderByPublicToken(db, publicToken)
  if (order === undefined) throw new AppError('NOT_FOUND', 'There is no order at this address.')
  return order
}

export type OrderRow = typeof orders.$inferSelect
export type OrderItemRow = typeof orderItems.$inferSelect
export type OrderAttributionRow = typeof orderAttributions.$inferSelect

/** Matches the guest orders with an email that do not belong to an account. */
export function placedAsGuest(emailKey: string | Placeholder): SQL | undefined {
  return and(eq(orders.emailKey, emailKey), isNull(orders.userId))
}

/** The number of guest orders with an email. */
export function countGuestOrders(db: Db, emailKey: string): number {
  return db.orm.select({ found: count() }).from(orders).where(placedAsGuest(emailKey)).get()?.found ?? 0
}

const later = rawStatement<{ emailKey: string | null; id: number; since: number }, { id: number }>(
  'SELECT id FROM orders WHERE email_key = @emailKey AND id > @id AND created_at >= @since LIMIT 1'
)
const earlier = rawStatement<{ emailKey: string | null; id: number; limit: number }, { createdAt: number }>(
  'SELECT created_at AS createdAt FROM orders WHERE email_key = @emailKey AND id < @id ORDER BY id DESC LIMIT @limit'
)

/** Whether another order with the same email was placed after this one, at `since` (epoch ms) or later. */
export function hasOrderSince(db: Db, { id, emailKey }: Pick<OrderRow, 'id' | 'emailKey'>, since: number): boolean {
  return later(db).get({ id, emailKey, since }) !== undefined
}

/** How many orders with the same email were placed within `withinMs` before this one; counts to `limit` at most. */
export function countOrdersBefore(
  db: Db,
  { id, emailKey, createdAt }: Pick<OrderRow, 'id' | 'emailKey' | 'createdAt'>,
  withinMs: number,
  limit: number
): number {
  return earlier(db)
    .all({ id, emailKey, limit })
    .filter((order) => order.createdAt > createdAt - withinMs).length
}

const paidRenewal = rawStatement<[number], { id: number }>(
  `SELECT id FROM orders WHERE renewal_of = ? AND paid_at IS NOT NULL
     AND status NOT IN ('failed', 'cancelled', 'refunded') LIMIT 1`
)

/** Whether an order has a paid renewal that is not refunded, so that its subscription is paid for. */
export function hasPaidRenewal(db: Db, orderId: number): boolean {
  return paidRenewal(db).get(orderId) !== undefined
}
