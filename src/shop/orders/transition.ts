import { eq, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import { emit } from '../outbox/emit.ts'
import { setting } from '../settings/settings.ts'
import { recordMove } from './audit.ts'
import { followMove } from './consequences.ts'
import { getOrder, lastMoveOf } from './find.ts'
import { reclaimHold, releaseHold } from './hold.ts'
import { invoiceOrder } from './invoice-order.ts'
import type { OrderRow } from './rows.ts'
import { orders } from './schema.ts'
import type { OrderStatus } from './states.ts'
import { isPaidStatus, isReleasedStatus, mayMove } from './states.ts'

export type Move = {
  /** The actor: `checkout`, `buyer`, `return` (a buyer who comes back from the gateway), `webhook`, `hold`, `reconciler`, `operator`, or `demo` and `seed` in seeds. */
  by: string
  reason: string
  /** A payment arrived after the order was cancelled. Only then, a cancelled order moves. */
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
 * Moves an order to another state and applies the consequences in the caller's transaction: stock and coupon uses,
 * benefits, referral, receipt, events and the audit row. Every move of every order happens here.
 *
 * A move to the current state changes nothing. An order that is paid after its stock or coupon was taken by another
 * order moves to on-hold, with the reason in its audit row, so that an operator completes or refunds it.
 *
 * @throws AppError NOT_FOUND; TRANSITION_REFUSED (details.from, details.to) for a move that is not in the table, and
 *   for a new payment attempt whose stock or coupon is no longer available
 */
export function moveOrder(tx: Tx, orderId: number, to: OrderStatus, move: Move, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  const latePayment = move.latePayment ?? false
  if (order.status === to || (latePayment && order.paidAt !== null)) return order
  if (!mayMove(order.status, to, latePayment)) throw refused(order, to)
  const arrived = isPaidStatus(to) || latePayment
  const gone = takesHoldAgain(tx, order, to) ? reclaimHold(tx, order) : []
  if (gone.length > 0 && !arrived) {
    releaseHold(tx, orderId)
    throw refused(order, to, gone)
  }
  // An operator decides about an order that is already on hold for this reason.
  const landed = gone.length > 0 && order.status !== 'on-hold' ? 'on-hold' : to
  const moved = store(tx, order, landed, arrived, now)
  const reason = [move.reason, ...gone].join('; ')
  recordMove(tx, { orderId, from: order.status, to: landed, by: move.by, reason, at: now })
  if (order.paidAt === null && moved.paidAt !== null) invoiceOrder(tx, moved, now)
  report(tx, order, moved, now)
  followMove(tx, order, moved, now)
  return moved
}

/** For moves from a released state to another one, and from the on-hold of a late payment, which may lack stock. */
function takesHoldAgain(tx: Tx, order: OrderRow, to: OrderStatus): boolean {
  if (isReleasedStatus(to)) return false
  if (order.status !== 'on-hold') return isReleasedStatus(order.status)
  const before = lastMoveOf(tx, order.id)?.from
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
