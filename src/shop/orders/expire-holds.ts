import { and, asc, gt, lte, or, sql } from 'drizzle-orm'
import { setBackMs } from '../../platform/clock.ts'
import { statement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { orders } from './schema.ts'

/** The longest that `checkout.holdMinutes` takes. */
const longestHoldMs = 24 * 60 * 60_000 + setBackMs

const overdue = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    // Spelt as in the partial index, or SQLite would not use it.
    .where(
      and(
        sql`status = 'pending'`,
        or(lte(orders.holdEndsAt, sql.placeholder('now')), gt(orders.holdEndsAt, sql.placeholder('longest')))
      )
    )
    .orderBy(asc(orders.holdEndsAt), asc(orders.id))
    .prepare()
)

/**
 * Pending orders whose hold has ended, the longest overdue first; a hold that is longer than any can be is one of a clock
 * that was ahead, and would keep its stock until then. Whether one is given up is for payments to say
 * (`endHold`): not while its payment is processing or awaits the bank.
 */
export function overdueOrders(db: Db, now: number): number[] {
  return overdue(db)
    .all({ now, longest: now + longestHoldMs })
    .map(({ id }) => id)
}
