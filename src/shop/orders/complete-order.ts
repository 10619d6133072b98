import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import type { OrderRow } from './rows.ts'
import { moveOrder } from './transition.ts'

/**
 * Completes an order for an operator: the buyer has received everything.
 *
 * @throws AppError NOT_FOUND, TRANSITION_REFUSED
 */
export function completeOrder(db: Db, orderId: number, by: string, now: number): OrderRow {
  return write(db, (tx) => moveOrder(tx, orderId, 'completed', { by, reason: 'marked as completed' }, now))
}
