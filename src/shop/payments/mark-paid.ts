import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { couponsOverLimit, describeOverLimit } from '../orders/coupon-uses.ts'
import { getOrder } from '../orders/find.ts'
import { confirmPayment } from '../orders/transition.ts'
import type { OrderRow } from '../orders/find.ts'
import { attemptsOf, updateAttempt } from './attempts.ts'

/**
 * Records that an operator has received the payment: by transfer, in cash, or late by card. The history says if the
 * order's email had already used a coupon of it as often as one customer may.
 *
 * @throws AppError TRANSITION_REFUSED, as `confirmPayment` does
 */
export function markPaid(db: Db, orderId: number, by: string, now: number): OrderRow {
  return write(db, (tx) => {
    const { email } = getOrder(tx, orderId)
    const overLimit = describeOverLimit(email === null ? [] : couponsOverLimit(tx, orderId, email))
    const reason = ['marked as paid', ...(overLimit === null ? [] : [overLimit])].join('; ')
    const order = confirmPayment(tx, orderId, { by, reason }, now)
    const isSettled = attemptsOf(tx, orderId).some(({ outcome }) => outcome === 'paid')
    endTransfers(tx, orderId, isSettled ? 'abandoned' : 'paid', now)
    return order
  })
}

/** Ends the order's attempts to pay by hand with an outcome. */
export function endTransfers(tx: Tx, orderId: number, outcome: 'paid' | 'abandoned', now: number): void {
  for (const { id, kind, outcome: known } of attemptsOf(tx, orderId)) {
    if (kind !== 'manual' || known === 'paid' || known === outcome) continue
    updateAttempt(tx, id, { outcome, settledAt: now }, now)
  }
}
