import type { Tx } from '../../platform/db/database.ts'
import { insertStatement } from '../../platform/db/statements.ts'
import { orderHistory } from './schema.ts'
import type { OrderStatus } from './states.ts'

const insertRow = insertStatement(orderHistory)

/** Writes the audit row of a move; `from` is null for an order's first state. */
export function recordMove(
  tx: Tx,
  move: { orderId: number; from: OrderStatus | null; to: OrderStatus; by: string; reason: string; at: number }
): void {
  insertRow(tx, move)
}
