import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement, rowStatement, rowsStatement } from '../../platform/db/statements.ts'
import type { OrderRow } from './rows.ts'
import { orderAttributions, orderCoupons, orderHistory, orderItems, orders } from './schema.ts'

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
