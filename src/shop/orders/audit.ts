import { sql } from 'drizzle-orm'
import { statement } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { orderHistory } from './schema.ts'
import type { OrderStatus } from './schema.ts'

const insertRow = statement((orm) =>
  orm
    .insert(orderHistory)
    .values({
      orderId: sql.placeholder('orderId'),
      from: sql`${sql.placeholder('from')}`,
      to: sql.placeholder('to'),
      by: sql.placeholder('by'),
      reason: sql.placeholder('reason'),
      at: sql.placeholder('at')
    })
    .prepare()
)

/** Writes the audit row of one move; `from` is null for an order's first state. */
export function recordMove(
  tx: Tx,
  move: { orderId: number; from: OrderStatus | null; to: OrderStatus; by: string; reason: string; at: number }
): void {
  insertRow(tx).run(move)
}
