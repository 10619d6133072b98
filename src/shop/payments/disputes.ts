import type Stripe from 'stripe'
import { emit } from '../webhooks/emit.ts'
import { getOrder, historyOf, lastMoveOf } from '../orders/find.ts'
import { recordRefund, moveOrder } from '../orders/transition.ts'
import { isPaidStatus } from '../orders/states.ts'
import { isSurplus } from './attempts.ts'
import type { UnitOfWork } from './warnings.ts'
import type { AttemptRow } from './rows.ts'
import { refunds } from './schema.ts'
import { resolveWarning, warn } from './warnings.ts'

/** `amountMinor` is what the buyer's bank disputes, which may be less than the payment. */
export type Dispute = { id: string; status: 'open' | 'won' | 'lost'; amountMinor: number }

/** Reads a dispute; inquiries that were closed and prevented disputes count as won. */
export function disputeOf({ id, status, amount: amountMinor }: Stripe.Dispute): Dispute {
  if (status === 'lost') return { id, status: 'lost', amountMinor }
  const over = status === 'won' || status === 'warning_closed' || status === 'prevented'
  return { id, status: over ? 'won' : 'open', amountMinor }
}

/**
 * An open dispute puts a paid order on hold, a won dispute gives it its state back, and a lost dispute refunds the disputed
 * amount, because the bank has taken it. Each happens at most once, in whatever order the events arrive.
 */
export function applyDispute(unit: UnitOfWork, attempt: AttemptRow, dispute: Dispute): 'applied' | 'ignored' {
  const { orderId } = attempt
  const changed = { open: hold, won: putBack, lost: payBack }[dispute.status](unit, attempt, dispute)
  if (dispute.status !== 'open') resolveWarning(unit, 'dispute', dispute.id)
  if (!changed) return 'ignored'
  emit(unit.tx, 'order.disputed', { orderId, disputeId: dispute.id, status: dispute.status }, unit.now)
  return 'applied'
}

function hold(unit: UnitOfWork, attempt: AttemptRow, { id }: Dispute): boolean {
  const { tx, by, now } = unit
  const { orderId } = attempt
  const message = `The buyer's bank disputes the payment of order ${orderId}. Respond in Stripe's dashboard before the deadline.`
  warn(unit, { orderId, kind: 'dispute', objectId: id, message })
  const wasHeld = historyOf(tx, orderId).some((row) => row.reason === reasonOf(id))
  if (wasHeld || isSurplus(tx, attempt) || !isPaidStatus(getOrder(tx, orderId).status)) return false
  moveOrder(tx, orderId, 'on-hold', { by, reason: reasonOf(id) }, now)
  return true
}

function putBack(unit: UnitOfWork, attempt: AttemptRow, { id }: Dispute): boolean {
  return resume(unit, attempt, id, 'was won')
}

/** Moves an order that this dispute put on hold back to the state it had. */
function resume({ tx, by, now }: UnitOfWork, { orderId }: AttemptRow, id: string, outcome: string): boolean {
  const held = lastMoveOf(tx, orderId)
  // Undone only if nothing has happened since: an operator may have decided otherwise.
  if (held?.to !== 'on-hold' || held.reason !== reasonOf(id) || held.from === null) return false
  moveOrder(tx, orderId, held.from, { by, reason: `${reasonOf(id)} ${outcome}` }, now)
  return true
}

/** The bank has taken the disputed amount; the order keeps what was not disputed. */
function payBack(unit: UnitOfWork, attempt: AttemptRow, { id, amountMinor }: Dispute): boolean {
  const { tx, by, now } = unit
  const { orderId, id: attemptId } = attempt
  const { paidAt, totalMinor, refundedMinor, currency } = getOrder(tx, orderId)
  const lostMinor = Math.min(amountMinor, totalMinor - refundedMinor)
  if (paidAt === null || lostMinor === 0 || isSurplus(tx, attempt)) return false
  const reason = `${reasonOf(id)} was lost`
  const row = { orderId, attemptId, currency, gatewayKey: id, state: 'done', by, reason } as const
  const { changes } = tx.orm
    .insert(refunds)
    .values({ ...row, amountMinor: lostMinor, createdAt: now, updatedAt: now })
    .onConflictDoNothing()
    .run()
  // Reported before: the same dispute takes its amount once.
  if (changes === 0) return false
  recordRefund(tx, orderId, lostMinor, { by, reason }, now)
  resume(unit, attempt, id, 'was lost in part')
  return true
}

const reasonOf = (disputeId: string): string => `dispute ${disputeId}`

/** Matches, with SQL's LIKE, the reason in the history of an order that a lost dispute refunded. */
export const lostDisputeReason = `${reasonOf('%')} was lost`
