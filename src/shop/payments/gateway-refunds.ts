import { eq } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { Db, Tx } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import { getOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { findOrderRefund, storeOrderRefund } from '../orders/refunds/refund-lines.ts'
import type { OrderRefundRow, RefundOfThings } from '../orders/refunds/refund-lines.ts'
import { dropRefund, recordRefund, reverseRefund } from '../orders/transition.ts'
import { isSurplus } from './attempts.ts'
import { refundKeyOf } from './gateway-state.ts'
import type { AttemptRow, RefundRow } from './rows.ts'
import { refunds } from './schema.ts'
import { resolveRefunds, resolveWarning, warn } from './warnings.ts'
import type { UnitOfWork } from './warnings.ts'

/** A refund at the gateway; `key` is the shop's own key when the shop requested the refund. */
export type GatewayRefund = { id: string; amountMinor: number; status: 'done' | 'open' | 'failed'; key: string | null }

/** All refunds of a payment at the gateway. */
export async function refundsOf(stripe: Stripe, paymentIntentId: string): Promise<GatewayRefund[]> {
  const { data } = await stripe.refunds.list({ payment_intent: paymentIntentId, limit: 100 })
  return data.map(toGatewayRefund)
}

/** Reads a refund; `requires_action` and `pending` count as open. */
export function toGatewayRefund(refund: Stripe.Refund): GatewayRefund {
  const failed = refund.status === 'failed' || refund.status === 'canceled'
  return {
    id: refund.id,
    amountMinor: refund.amount,
    status: failed ? 'failed' : refund.status === 'succeeded' ? 'done' : 'open',
    key: refundKeyOf(refund.metadata)
  }
}

/** Applies every refund of a payment, including refunds made in the gateway's dashboard. Each refund counts once. */
export function applyRefunds(
  unit: UnitOfWork,
  attempt: AttemptRow,
  found: readonly GatewayRefund[]
): 'applied' | 'ignored' {
  const changed = found.map((refund) => applyRefund(unit, attempt, refund))
  return changed.some(Boolean) ? 'applied' : 'ignored'
}

function applyRefund(unit: UnitOfWork, attempt: AttemptRow, refund: GatewayRefund): boolean {
  const known = findRefund(unit.tx, refund)
  if (refund.status === 'failed') return takeFailure(unit, attempt, known, refund)
  if (known?.state === 'done') return false
  const row = storeReportedRefund(unit, attempt, known, refund)
  if (refund.status === 'open') return false
  count(unit, attempt, row)
  return true
}

/**
 * A refund that failed, even after it had succeeded, as a bank may report days later (docs.stripe.com/refunds): the
 * money is back at the shop, so the order counts as not refunded by it and can be refunded again.
 */
function takeFailure(
  unit: UnitOfWork,
  attempt: AttemptRow,
  known: RefundRow | undefined,
  { id }: GatewayRefund
): boolean {
  if (known === undefined || known.state === 'failed') return false
  const { orderId } = known
  setState(unit, known.id, 'failed', id)
  if (known.state === 'done' && isCounted(unit.tx, attempt)) {
    const cause = { by: unit.by, reason: `refund ${id} failed at the gateway` }
    reverseRefund(unit.tx, orderId, known.amountMinor, cause, unit.now, known.orderRefundId)
  } else if (known.orderRefundId !== null) dropRefund(unit.tx, known.orderRefundId, unit.by, unit.now)
  const amount = formatMoney(known.amountMinor, known.currency)
  const message = `Refund ${id} of ${amount} for order ${orderId} failed: the money is back with the shop. Refund the order again, or pay the buyer in another way.`
  warn(unit, { orderId, kind: 'refund_failed', objectId: id, message })
  return true
}

/** Stores a refund, or updates the stored row with the gateway's id and state. */
function storeReportedRefund(
  unit: UnitOfWork,
  attempt: AttemptRow,
  known: RefundRow | undefined,
  refund: GatewayRefund
): RefundRow {
  const { tx, by, now } = unit
  const state = refund.status === 'done' ? 'done' : 'requested'
  if (known !== undefined) return setState(unit, known.id, state, refund.id)
  return tx.orm
    .insert(refunds)
    .values({
      orderId: attempt.orderId,
      attemptId: attempt.id,
      amountMinor: refund.amountMinor,
      currency: attempt.currency,
      gatewayKey: refund.key ?? refund.id,
      gatewayRefundId: refund.id,
      state,
      by,
      reason: `refunded at the gateway: ${refund.id}`,
      createdAt: now,
      updatedAt: now
    })
    .returning()
    .get()
}

function setState({ tx, now }: UnitOfWork, id: number, state: RefundRow['state'], gatewayRefundId: string): RefundRow {
  return tx.orm
    .update(refunds)
    .set({ state, gatewayRefundId, updatedAt: now })
    .where(eq(refunds.id, id))
    .returning()
    .get()
}

/** A refund of a payment that never counted for the order resolves that payment's warning and leaves the order. */
function count(unit: UnitOfWork, attempt: AttemptRow, row: RefundRow): void {
  const { amountMinor, by, reason } = row
  const { tx, now } = unit
  const order = getOrder(tx, row.orderId)
  const { id, totalMinor, refundedMinor } = order
  if (!isCounted(tx, attempt)) {
    for (const kind of ['mismatch', 'paid_twice'] as const) resolveWarning(unit, kind, attempt.objectId ?? '')
    return
  }
  const leftMinor = Math.min(amountMinor, totalMinor - refundedMinor)
  if (leftMinor > 0) {
    const asked = row.orderRefundId === null ? undefined : findOrderRefund(tx, row.orderRefundId)
    const refund = asked?.amountMinor === leftMinor ? asked : nameless(unit, order, row, leftMinor)
    recordRefund(tx, id, leftMinor, causeOf(by, reason, refund), now, refund)
  }
  resolveRefunds(unit, id)
}

/** Stores the refund of an amount that names no lines, such as one made in the gateway's dashboard. */
function nameless({ tx, now }: UnitOfWork, order: OrderRow, { id }: RefundRow, amountMinor: number): OrderRefundRow {
  const refund = storeOrderRefund(tx, order, { amountMinor, parts: [], reason: null }, now)
  tx.orm.update(refunds).set({ orderRefundId: refund.id }).where(eq(refunds.id, id)).run()
  return refund
}

/** Whether this payment pays the order, so that its refunds count for the order. */
function isCounted(tx: Tx, attempt: AttemptRow): boolean {
  return getOrder(tx, attempt.orderId).paidAt !== null && !isSurplus(tx, attempt)
}

/** What the shop knows of a refund at the gateway; undefined if it does not know it yet. */
export function findRefund(tx: Db, refund: GatewayRefund): RefundRow | undefined {
  const byId = tx.orm.select().from(refunds).where(eq(refunds.gatewayRefundId, refund.id)).get()
  if (byId !== undefined || refund.key === null) return byId
  return tx.orm.select().from(refunds).where(eq(refunds.gatewayKey, refund.key)).get()
}

/** Who refunds, and why: what happened, and what the operator says. */
export function causeOf(by: string, what: string, { reason }: Pick<RefundOfThings, 'reason'>) {
  return { by, reason: reason === null ? what : `${what}: ${reason}` }
}
