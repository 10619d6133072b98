import { and, asc, eq, gt, lte, or, sql } from 'drizzle-orm'
import { setBackMs } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import type { OrderRow } from './rows.ts'
import { orders } from './schema.ts'

/** The maximum of `checkout.holdMinutes`. */
const longestHoldMs = 24 * 60 * 60_000 + setBackMs

const overdue = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    // Written as in the partial index, otherwise SQLite does not use it.
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
 * The ids of pending orders whose hold ended at least `sinceMs` ago, the most overdue first. They include orders from
 * the future, which were placed while the clock was ahead and would hold their stock too long. `endHold` in payments
 * decides whether an order ends: not while its payment is processing or waits for the bank.
 */
export function overdueOrders(db: Db, now: number, sinceMs = 0): number[] {
  return overdue(db)
    .all({ until: now - sinceMs, longest: now + longestHoldMs, future: now + setBackMs })
    .map(({ id }) => id)
}

/** Extends an order's hold to at least `until`; a hold that ends later does not change. */
export function extendHold(tx: Tx, order: OrderRow, until: number): OrderRow {
  const holdEndsAt = Math.max(order.holdEndsAt ?? 0, until)
  tx.orm.update(orders).set({ holdEndsAt }).where(eq(orders.id, order.id)).run()
  return { ...order, holdEndsAt }
}
