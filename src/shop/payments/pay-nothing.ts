import type { Tx } from '../../platform/db/database.ts'
import { payOrder } from '../orders/transition.ts'
import type { OrderRow } from '../orders/find.ts'
import { createAttempt, updateAttempt } from './attempts.ts'

/** Marks an order that costs nothing as paid, without a gateway. */
export function payNothing(tx: Tx, order: OrderRow, now: number): OrderRow {
  const free = createAttempt(tx, order, { gateway: 'none', kind: 'none', livemode: false }, now)
  updateAttempt(tx, free.id, { outcome: 'paid', gatewayStatus: 'not_required', settledAt: now }, now)
  return payOrder(tx, order.id, { by: 'checkout', reason: 'nothing to pay' }, now)
}
