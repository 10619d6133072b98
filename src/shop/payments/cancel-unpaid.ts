import { sqlList } from '../../platform/db/columns.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import type { ShopContext } from '../context.ts'
import { AppError } from '../../errors.ts'
import { unpaidStatuses } from '../orders/states.ts'
import { cancelUnpaidOrder } from './end-hold.ts'

/** Which unpaid orders to cancel. `emailDomain` is the part after the @, in lower case. */
export type UnpaidFilter = { placedBefore: number; emailDomain: string | null }

/** The orders that were cancelled, and those that could not be, with the reason. */
export type CancelReport = { cancelled: number[]; failed: { orderId: number; message: string }[] }

const held = sqlList(unpaidStatuses)

const unpaid = rawStatement<{ placedBefore: number; emailDomain: string | null }, { id: number }>(`
  SELECT id FROM orders
  WHERE status IN (${held}) AND paid_at IS NULL AND created_at <= @placedBefore
    AND (@emailDomain IS NULL OR substr(email_key, instr(email_key, '@') + 1) = @emailDomain)
  ORDER BY id`)

/** The ids of the orders that hold stock or coupons and were never paid, the oldest first. */
export function findUnpaidOrders(db: Db, filter: UnpaidFilter): number[] {
  return unpaid(db)
    .all(filter)
    .map(({ id }) => id)
}

/**
 * Cancels orders as an operator does with each of them: their payments are called off at the gateway first. An order that
 * was paid in the meantime, or whose payment waits for the bank, is reported and stays.
 */
export async function cancelUnpaidOrders(
  shop: ShopContext,
  orderIds: readonly number[],
  by: string,
  onStep: (done: number) => void
): Promise<CancelReport> {
  const report: CancelReport = { cancelled: [], failed: [] }
  for (const [index, orderId] of orderIds.entries()) {
    onStep(index)
    try {
      await cancelUnpaidOrder(shop, orderId, by)
      report.cancelled.push(orderId)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      report.failed.push({ orderId, message: error.message })
    }
  }
  return report
}
