import type Stripe from 'stripe'
import type { Tx } from '../../platform/db/database.ts'
import { emit } from '../events/events.ts'
import { getOrder, historyOf } from '../orders/find.ts'
import { moveOrder } from '../orders/transition.ts'
import { isPaidStatus } from '../orders/states.ts'
import { warn } from './warnings.ts'

export type Dispute = { id: string; status: 'open' | 'won' | 'lost' }

export function disputeOf(dispute: Stripe.Dispute): Dispute {
  const { status } = dispute
  if (status === 'lost') return { id: dispute.id, status: 'lost' }
  return { id: dispute.id, status: status === 'won' || status === 'warning_closed' ? 'won' : 'open' }
}

const reasonOf = (dispute: Dispute): string => `dispute ${dispute.id}`

/**
 * A dispute puts a paid order on hold, a won one puts it back where it was, a lost one refunds it: the money is gone
 * whatever the shop would like. Each at most once, in whatever order the news comes.
 */
export function applyDispute(
  tx: Tx,
  orderId: number,
  dispute: Dispute,
  by: string,
  now: number
): 'applied' | 'ignored' {
  const order = getOrder(tx, orderId)
  const held = historyOf(tx, orderId).findLast((row) => row.to === 'on-hold' && row.reason === reasonOf(dispute))
  if (dispute.status === 'lost') {
    if (order.status === 'refunded' || order.paidAt === null) return 'ignored'
    moveOrder(tx, orderId, 'refunded', { by, reason: `${reasonOf(dispute)} was lost` }, now)
    emit(tx, 'order.disputed', { orderId, disputeId: dispute.id, status: 'lost' }, now)
    return 'applied'
  }
  if (dispute.status === 'won') {
    if (held === undefined || held.from === null || order.status !== 'on-hold') return 'ignored'
    moveOrder(tx, orderId, held.from, { by, reason: `${reasonOf(dispute)} was won` }, now)
    emit(tx, 'order.disputed', { orderId, disputeId: dispute.id, status: 'won' }, now)
    return 'applied'
  }
  if (held !== undefined || !isPaidStatus(order.status)) return 'ignored'
  moveOrder(tx, orderId, 'on-hold', { by, reason: reasonOf(dispute) }, now)
  emit(tx, 'order.disputed', { orderId, disputeId: dispute.id, status: 'open' }, now)
  warn(
    tx,
    {
      orderId,
      kind: 'dispute',
      objectId: dispute.id,
      message: `Order ${orderId} is disputed: answer it at the gateway.`
    },
    now
  )
  return 'applied'
}
