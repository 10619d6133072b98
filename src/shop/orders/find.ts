import { asc, eq, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { rowStatement, statement } from '../../platform/db/statements.ts'
import type { OrderAttributionRow, OrderCouponRow, OrderHistoryRow, OrderItemRow, OrderRow } from './rows.ts'
import { orderAttributions, orderCoupons, orderHistory, orderItems, orders } from './schema.ts'

const orderById = rowStatement(orders, 'id = ?')
const orderByPublicToken = rowStatement(orders, 'public_token = ?')
const itemsOfOrder = statement((orm) =>
  orm
    .select()
    .from(orderItems)
    .where(eq(orderItems.orderId, sql.placeholder('id')))
    .orderBy(asc(orderItems.id))
    .prepare()
)
const couponsOfOrder = statement((orm) =>
  orm
    .select()
    .from(orderCoupons)
    .where(eq(orderCoupons.orderId, sql.placeholder('id')))
    .orderBy(asc(orderCoupons.id))
    .prepare()
)
const attributionOfOrder = statement((orm) =>
  orm
    .select()
    .from(orderAttributions)
    .where(eq(orderAttributions.orderId, sql.placeholder('id')))
    .prepare()
)
const historyOfOrder = statement((orm) =>
  orm
    .select()
    .from(orderHistory)
    .where(eq(orderHistory.orderId, sql.placeholder('id')))
    .orderBy(asc(orderHistory.id))
    .prepare()
)

export function findOrder(db: Db, id: number): OrderRow | undefined {
  return orderById(db, id)
}

/** @throws AppError NOT_FOUND when there is no such order. */
export function getOrder(db: Db, id: number): OrderRow {
  const order = findOrder(db, id)
  if (order === undefined) throw new AppError('NOT_FOUND', `There is no order ${id}.`)
  return order
}

/** The order that the address of a hosted page names. */
export function findOrderByPublicToken(db: Db, publicToken: string): OrderRow | undefined {
  return orderByPublicToken(db, publicToken)
}

/** Lines in the order in which they were bought. */
export function itemsOf(db: Db, orderId: number): OrderItemRow[] {
  return itemsOfOrder(db).all({ id: orderId })
}

export function couponsOf(db: Db, orderId: number): OrderCouponRow[] {
  return couponsOfOrder(db).all({ id: orderId })
}

export function findAttribution(db: Db, orderId: number): OrderAttributionRow | undefined {
  return attributionOfOrder(db).get({ id: orderId })
}

/** Audit rows, the first move first. */
export function historyOf(db: Db, orderId: number): OrderHistoryRow[] {
  return historyOfOrder(db).all({ id: orderId })
}
