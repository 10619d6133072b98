import { and, eq, sql } from 'drizzle-orm'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement, statement } from '../../platform/db/statements.ts'
import { toMajor } from '../../platform/money.ts'
import type { OrderRow } from './rows.ts'
import { customerOrderTotals, orders } from './schema.ts'

const ofCustomer = sql`${orders.userId} = ${sql.placeholder('userId')}`

const totals = statement((orm) =>
  orm
    .select({ total: customerOrderTotals.total })
    .from(customerOrderTotals)
    .where(eq(customerOrderTotals.userId, sql.placeholder('userId')))
    .prepare()
)
const anyCompleted = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    // Written as in the partial index, otherwise SQLite does not use it.
    .where(and(ofCustomer, sql`status = 'completed'`))
    .limit(1)
    .prepare()
)
const newest = rawStatement<
  [userId: number, limit: number],
  Pick<OrderRow, 'id' | 'status' | 'currency' | 'totalMinor' | 'createdAt'>
>(
  `SELECT id, status, currency, total_minor AS totalMinor, created_at AS createdAt FROM orders WHERE user_id = ?
   ORDER BY created_at DESC, id DESC LIMIT ?`
)

export type OrdersSummary = { hasAnyCompletedOrder: boolean; totalOrders: number; lastOrderAt: string | null }
export type NewestOrder = ReturnType<typeof newestOrders>[number]

/** The summary of a customer's orders; `lastOrderAt` in ISO 8601 UTC. */
export function orderSummary(db: Db, userId: number): OrdersSummary {
  return {
    hasAnyCompletedOrder: anyCompleted(db).get({ userId }) !== undefined,
    totalOrders: totals(db).get({ userId })?.total ?? 0,
    lastOrderAt: toIsoOrNull(newest(db).get(userId, 1)?.createdAt)
  }
}

/** A customer's newest orders in the short form of entitlements (docs/contract.md 4.4). */
export function newestOrders(db: Db, userId: number, limit: number) {
  return newest(db)
    .all(userId, limit)
    .map(({ id, status, currency, totalMinor, createdAt }) => ({
      id,
      status,
      currency,
      total: toMajor(totalMinor, currency),
      createdAt: toIso(createdAt)
    }))
}
