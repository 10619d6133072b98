import { and, asc, count, eq, gt, gte, isNotNull, isNull, notInArray, or, sql } from 'drizzle-orm'
import type { Placeholder, SQL } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { orderAttributions, orderChanges, orderCoupons, orderHistory, orderItems, orders } from './schema.ts'
import { releasedStatuses } from './states.ts'

export type OrderRow = typeof orders.$inferSelect
export type OrderItemRow = typeof orderItems.$inferSelect
export type OrderCouponRow = typeof orderCoupons.$inferSelect
export type OrderAttributionRow = typeof orderAttributions.$inferSelect
export type OrderHistoryRow = typeof orderHistory.$inferSelect
export type OrderChangeRow = typeof orderChanges.$inferSelect

const id = sql.placeholder('id')

const orderById = statement((orm) => orm.select().from(orders).where(eq(orders.id, id)).prepare())
const orderByPublicToken = statement((orm) =>
  orm
    .select()
    .from(orders)
    .where(eq(orders.publicToken, sql.placeholder('publicToken')))
    .prepare()
)
const items = statement((orm) =>
  orm.select().from(orderItems).where(eq(orderItems.orderId, id)).orderBy(asc(orderItems.id)).prepare()
)
const coupons = statement((orm) =>
  orm.select().from(orderCoupons).where(eq(orderCoupons.orderId, id)).orderBy(asc(orderCoupons.id)).prepare()
)
const attribution = statement((orm) =>
  orm.select().from(orderAttributions).where(eq(orderAttributions.orderId, id)).prepare()
)
const history = statement((orm) =>
  orm.select().from(orderHistory).where(eq(orderHistory.orderId, id)).orderBy(asc(orderHistory.id)).prepare()
)

/** The order with an id. */
export function findOrder(db: Db, id: number): OrderRow | undefined {
  return orderById(db).get({ id })
}

/** The order with an id. @throws AppError NOT_FOUND */
export function getOrder(db: Db, id: number): OrderRow {
  const order = findOrder(db, id)
  if (order === undefined) throw new AppError('NOT_FOUND', `Order ${id} does not exist.`)
  return order
}

/**
 * The order of a hosted page's address.
 *
 * @throws AppError NOT_FOUND
 */
export function getOrderByPublicToken(db: Db, publicToken: string): OrderRow {
  const order = orderByPublicToken(db).get({ publicToken })
  if (order === undefined) throw new AppError('NOT_FOUND', 'There is no order at this address.')
  return order
}

/** The lines of an order, in their order. */
export function itemsOf(db: Db, orderId: number): OrderItemRow[] {
  return items(db).all({ id: orderId })
}

/** The coupons of an order, in their order. */
export function couponsOf(db: Db, orderId: number): OrderCouponRow[] {
  return coupons(db).all({ id: orderId })
}

/** The attribution of an order. */
export function findAttribution(db: Db, orderId: number): OrderAttributionRow | undefined {
  return attribution(db).get({ id: orderId })
}

/** The audit rows of an order, oldest first. */
export function historyOf(db: Db, orderId: number): OrderHistoryRow[] {
  return history(db).all({ id: orderId })
}

/** What operators changed in an order, oldest first. */
export function changesOf(db: Db, orderId: number): OrderChangeRow[] {
  return db.orm.select().from(orderChanges).where(eq(orderChanges.orderId, orderId)).orderBy(asc(orderChanges.id)).all()
}

/** The newest row of the history that changed the state: rows of partial refunds do not. */
export function lastMoveOf(db: Db, orderId: number): OrderHistoryRow | undefined {
  return historyOf(db, orderId).findLast(({ from, to }) => from !== to)
}

/** Whether an order was given up unpaid because its buyer went on with a newer one. */
export function wasReplaced(db: Db, { id, status, paidAt }: Pick<OrderRow, 'id' | 'status' | 'paidAt'>): boolean {
  return status === 'cancelled' && paidAt === null && lastMoveOf(db, id)?.by === 'checkout'
}

/** Whether the shop has any order. */
export function hasOrders(db: Db): boolean {
  return db.orm.select({ id: orders.id }).from(orders).limit(1).get() !== undefined
}

/** Whether an order has a paid renewal that is not refunded, so that its subscription is paid for. */
export function hasPaidRenewal(db: Db, orderId: number): boolean {
  const inForce = notInArray(orders.status, [...releasedStatuses])
  const renewals = and(eq(orders.renewalOf, orderId), isNotNull(orders.paidAt), inForce)
  return db.orm.select({ id: orders.id }).from(orders).where(renewals).limit(1).get() !== undefined
}

/** Matches the guest orders with an email that do not belong to an account. */
export function placedAsGuest(emailKey: string | Placeholder): SQL | undefined {
  return and(eq(orders.emailKey, emailKey), isNull(orders.userId))
}

/** A person by their email; `id` is their account, null for a guest who has none. */
export type Person = { id: number | null; emailKey: string }

/** Matches the orders of an account, if there is one, and the guest orders with the email. */
export function ofPerson({ id, emailKey }: Person): SQL | undefined {
  return or(id === null ? undefined : eq(orders.userId, id), placedAsGuest(emailKey))
}

/** The number of guest orders with an email. */
export function countGuestOrders(db: Db, emailKey: string): number {
  return db.orm.select({ found: count() }).from(orders).where(placedAsGuest(emailKey)).get()?.found ?? 0
}

type EmailOf = Pick<OrderRow, 'id' | 'emailKey'>

/** Whether another order with the same email was placed after this one, at `since` (epoch ms) or later. */
export function hasOrderSince(db: Db, { id, emailKey }: EmailOf, since: number): boolean {
  if (emailKey === null) return false
  const later = and(eq(orders.emailKey, emailKey), gt(orders.id, id), gte(orders.createdAt, since))
  return db.orm.select({ id: orders.id }).from(orders).where(later).limit(1).get() !== undefined
}
