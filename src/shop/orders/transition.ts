import { eq, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import { emit } from '../outbox/emit.ts'
import { setting } from '../settings/settings.ts'
import { recordMove } from './audit.ts'
import { followMove } from './consequences.ts'
import { getOrder, historyOf } from './find.ts'
import { reclaimHoldings, releaseHoldings } from './hold.ts'
import type { OrderRow } from './rows.ts'
import { orders } from './schema.ts'
import type { OrderStatus } from './states.ts'
import { isPaidStatus, isReleasedStatus, mayMove } from './states.ts'

export type Move = {
  /** Who moves it: `checkout`, `buyer`, `webhook`, `hold`, `reconciler`, `operator`; seeds say `demo` or `seed`. */
  by: string
  reason: string
  /** A payment that arrived although the order had been given up: the only way out of cancelled. */
  latePayment?: boolean
}

const updateOrder = statement((orm) =>
  orm
    .update(orders)
    .set({
      status: sql`${sql.placeholder('status')}`,
      paidAt: sql`${sql.placeholder('paidAt')}`,
      holdEndsAt: sql`${sql.placeholder('holdEndsAt')}`,
      refundedMinor: sql`${sql.placeholder('refundedMinor')}`,
      updatedAt: sql`${sql.placeholder('now')}`
    })
    .where(eq(orders.id, sql.placeholder('id')))
    .returning()
    .prepare()
)

/**
 * Moves an order to another state with everything that follows from it, in the caller's transaction: stock and coupon
 * uses, grants, referral, receipt, events and the audit row. Every move of every order is made here.
 *
 * Reporting a state again changes nothing. An order that is paid after its stock or coupon went to somebody else lands
 * on hold, with the reason in its audit row, for an operator to complete or refund.
 *
 * @throws AppError NOT_FOUND; TRANSITION_REFUSED (details.from, details.to) for a move that is not in the table, and for
 *   a new attempt whose stock or coupon is gone.
 */
export function moveOrder(tx: Tx, orderId: number, to: OrderStatus, move: Move, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  const latePayment = move.latePayment ?? false
  if (order.status === to || (latePayment && order.paidAt !== null)) return order
  if (!mayMove(order.status, to, latePayment)) throw refused(order, to)
  const arrived = isPaidStatus(to) || latePayment
  const gone = takesHoldingsAgain(tx, order, to) ? reclaimHoldings(tx, order) : []
  if (gone.length > 0 && !arrived) {
    releaseHoldings(tx, orderId)
    throw refused(order, to, gone)
  }
  // What is on hold for this very reason has been seen by an operator, who decides.
  const landed = gone.length > 0 && order.status !== 'on-hold' ? 'on-hold' : to
  const moved = store(tx, order, landed, arrived, now)
  const reason = [move.reason, ...gone].join('; ')
  recordMove(tx, { orderId, from: order.status, to: landed, by: move.by, reason, at: now })
  report(tx, order, moved, now)
  followMove(tx, order, moved, now)
  return moved
}

/** From a state that holds nothing to one that does, and from a late payment's on-hold, which may lack something. */
function takesHoldingsAgain(tx: Tx, order: OrderRow, to: OrderStatus): boolean {
  if (isReleasedStatus(to)) return false
  if (order.status !== 'on-hold') return isReleasedStatus(order.status)
  const before = historyOf(tx, order.id).at(-1)?.from
  return before !== undefined && before !== null && isReleasedStatus(before)
}

function store(tx: Tx, order: OrderRow, status: OrderStatus, arrived: boolean, now: number): OrderRow {
  const holdMs = setting(tx, 'checkout.holdMinutes') * 60_000
  return updateOrder(tx).get({
    id: order.id,
    status,
    paidAt: order.paidAt ?? (arrived ? now : null),
    holdEndsAt: status === 'pending' ? now + holdMs : order.holdEndsAt,
    refundedMinor: status === 'refunded' ? order.totalMinor : order.refundedMinor,
    now
  })
}

function report(tx: Tx, before: OrderRow, after: OrderRow, now: number): void {
  const orderId = after.id
  emit(tx, 'order.status_changed', { orderId, from: before.status, to: after.status }, now)
  if (before.paidAt === null && after.paidAt !== null) {
    emit(tx, 'order.paid', { orderId, totalMinor: after.totalMinor, currency: after.currency }, now)
  }
}

function refused(order: OrderRow, to: OrderStatus, gone: readonly string[] = []): AppError {
  const why = gone.length > 0 ? `: ${gone.join('; ')}` : ''
  const message = `Order ${order.id} cannot go from ${order.status} to ${to}${why}.`
  return new AppError('TRANSITION_REFUSED', message, { from: order.status, to, ...(gone.length > 0 ? { gone } : {}) })
}
