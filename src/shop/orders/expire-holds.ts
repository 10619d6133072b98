import { and, asc, eq, gt, lte, or, sql } from 'drizzle-orm'
import { setBackMs } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import type { OrderRow } from './rows.ts'
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
        or(
          lte(orders.holdEndsAt, sql.placeholder('until')),
          and(gt(orders.holdEndsAt, sql.placeholder('longest')), gt(orders.createdAt, sql.placeholder('future')))
        )
      )
    )
    .orderBy(asc(orders.holdEndsAt), asc(orders.id))
    .prepare()
)

/**
 * Pending orders whose hold ended `sinceMs` ago or earlier, the longest overdue first. The hold of an order from the
 * future is one of a clock that was ahead: longer than any can be, it would keep its stock until then. Whether one is
 * given up is for payments to say (`endHold`): not while its payment is processing or awaits the bank.
 */
export function overdueOrders(db: Db, now: number, sinceMs = 0): number[] {
  return overdue(db)
    .all({ until: now - sinceMs, longest: now + longestHoldMs, future: now + setBackMs })
    .map(({ id }) => id)
}

/** Keeps an order's hold until `until` at least; a hold that ends later stays as it is. */
export function extendHold(tx: Tx, order: OrderRow, until: number): OrderRow {
  const holdEndsAt = Math.max(order.holdEndsAt ?? 0, until)
  tx.orm.update(orders).set({ holdEndsAt }).where(eq(orders.id, order.id)).run()
  return { ...order, holdEndsAt }
}
