import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { confirmPayment } from '../orders/pay-order.ts'
import type { OrderRow } from '../orders/rows.ts'
import { attemptsOf, updateAttempt } from './attempts.ts'

/**
 * Records for an operator that an order's money has arrived: by transfer, in cash, or late by card.
 *
 * @throws AppError TRANSITION_REFUSED, as `confirmPayment` does
 */
export function markPaid(db: Db, orderId: number, by: string, now: number): OrderRow {
  return write(db, (tx) => {
    const order = confirmPayment(tx, orderId, { by, reason: 'marked as paid' }, now)
    const isSettled = attemptsOf(tx, orderId).some(({ outcome }) => outcome === 'paid')
    endTransfers(tx, orderId, isSettled ? 'abandoned' : 'paid', now)
    return order
  })
}

/** The transfers that an order waited for have come, even after it was given up, or are not waited for any longer. */
export function endTransfers(tx: Tx, orderId: number, outcome: 'paid' | 'abandoned', now: number): void {
  for (const { id, kind, outcome: known } of attemptsOf(tx, orderId)) {
    if (kind !== 'manual' || known === 'paid' || known === outcome) continue
    updateAttempt(tx, id, { outcome, settledAt: now }, now)
  }
}
