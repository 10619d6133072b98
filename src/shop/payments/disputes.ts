import type Stripe from 'stripe'
import { emit } from '../outbox/emit.ts'
import { getOrder, historyOf } from '../orders/find.ts'
import { recordRefund } from '../orders/refund-order.ts'
import { moveOrder } from '../orders/transition.ts'
import { isPaidStatus } from '../orders/states.ts'
import { isSurplus } from './attempts.ts'
import type { Booking } from './booking.ts'
import type { AttemptRow } from './rows.ts'
import { resolveWarning, warn } from './warnings.ts'

export type Dispute = { id: string; status: 'open' | 'won' | 'lost' }

export function disputeOf({ id, status }: Stripe.Dispute): Dispute {
  if (status === 'lost') return { id, status: 'lost' }
  const over = status === 'won' || status === 'warning_closed' || status === 'prevented'
  return { id, status: over ? 'won' : 'open' }
}

/**
 * A dispute puts a paid order on hold, a won one puts it back where it was, a lost one refunds it: the money is gone
 * whatever the shop would like. Each at most once, in whatever order the news comes.
 */
export function applyDispute(booking: Booking, attempt: AttemptRow, dispute: Dispute): 'applied' | 'ignored' {
  const { orderId } = attempt
  const changed = { open: hold, won: putBack, lost: payBack }[dispute.status](booking, attempt, dispute)
  if (dispute.status !== 'open') resolveWarning(booking, 'dispute', dispute.id)
  if (!changed) return 'ignored'
  emit(booking.tx, 'order.disputed', { orderId, disputeId: dispute.id, status: dispute.status }, booking.now)
  return 'applied'
}

function hold(booking: Booking, attempt: AttemptRow, { id }: Dispute): boolean {
  const { tx, by, now } = booking
  const { orderId } = attempt
  const message = `Order ${orderId} is disputed: answer it at the gateway.`
  warn(booking, { orderId, kind: 'dispute', objectId: id, message })
  const wasHeld = historyOf(tx, orderId).some((row) => row.reason === reasonOf(id))
  if (wasHeld || isSurplus(tx, attempt) || !isPaidStatus(getOrder(tx, orderId).status)) return false
  moveOrder(tx, orderId, 'on-hold', { by, reason: reasonOf(id) }, now)
  return true
}

function putBack({ tx, by, now }: Booking, { orderId }: AttemptRow, { id }: Dispute): boolean {
  const history = historyOf(tx, orderId)
  const held = history.at(-1)
  // Only what this dispute did last is undone; somebody may have decided otherwise since.
  if (held?.to !== 'on-hold' || held.reason !== reasonOf(id) || held.from === null) return false
  moveOrder(tx, orderId, held.from, { by, reason: `${reasonOf(id)} was won` }, now)
  return true
}

function payBack({ tx, by, now }: Booking, attempt: AttemptRow, { id }: Dispute): boolean {
  const { paidAt, totalMinor, refundedMinor } = getOrder(tx, attempt.orderId)
  const leftMinor = totalMinor - refundedMinor
  if (paidAt === null || leftMinor === 0 || isSurplus(tx, attempt)) return false
  recordRefund(tx, attempt.orderId, leftMinor, { by, reason: `${reasonOf(id)} was lost` }, now)
  return true
}

const reasonOf = (disputeId: string): string => `dispute ${disputeId}`
