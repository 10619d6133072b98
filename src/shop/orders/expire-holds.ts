import { and, asc, lte, sql } from 'drizzle-orm'
import { statement, write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { findOrder } from './find.ts'
import { orders } from './schema.ts'
import { moveOrder } from './transition.ts'

const overdueOrders = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    // Spelt as in the partial index, or SQLite would not use it.
    .where(and(sql`status = 'pending'`, lte(orders.holdEndsAt, sql.placeholder('now'))))
    .orderBy(asc(orders.holdEndsAt))
    .prepare()
)

/**
 * Cancels pending orders whose hold has ended, each in its own transaction, and returns their ids. An order whose
 * payment is processing or awaits the bank keeps its stock: `isPaymentUnderWay` is asked inside the transaction, so that
 * a payment which begins meanwhile is seen.
 */
export function expireHolds(db: Db, isPaymentUnderWay: (orderId: number) => boolean, now: number): number[] {
  const overdue = overdueOrders(db).all({ now })
  return overdue.map(({ id }) => id).filter((id) => write(db, (tx) => expireHold(tx, id, isPaymentUnderWay, now)))
}

function expireHold(tx: Tx, id: number, isPaymentUnderWay: (orderId: number) => boolean, now: number): boolean {
  const order = findOrder(tx, id)
  const overdue = order?.status === 'pending' && order.holdEndsAt !== null && order.holdEndsAt <= now
  if (!overdue || isPaymentUnderWay(id)) return false
  moveOrder(tx, id, 'cancelled', { by: 'hold', reason: 'not paid before its hold ended' }, now)
  return true
}
