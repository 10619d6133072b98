import { and, asc, lte, sql } from 'drizzle-orm'
import { statement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { orders } from './schema.ts'

const overdue = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    // Spelt as in the partial index, or SQLite would not use it.
    .where(and(sql`status = 'pending'`, lte(orders.holdEndsAt, sql.placeholder('now'))))
    .orderBy(asc(orders.holdEndsAt), asc(orders.id))
    .prepare()
)

/**
 * Pending orders whose hold has ended, the longest overdue first. Whether one is given up is for payments to say
 * (`endHold`): not while its payment is processing or awaits the bank.
 */
export function overdueOrders(db: Db, now: number): number[] {
  return overdue(db)
    .all({ now })
    .map(({ id }) => id)
}
