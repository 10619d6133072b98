import { eq } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { Tx } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import { getOrder } from '../orders/find.ts'
import { recordRefund, reverseRefund } from '../orders/refund-order.ts'
import { isSurplus } from './attempts.ts'
import type { Booking } from './booking.ts'
import { refundKeyOf } from './metadata.ts'
import type { AttemptRow, RefundRow } from './rows.ts'
import { refunds } from './schema.ts'
import { resolveWarning, warn } from './warnings.ts'

/** A refund as the gateway has it; `key` is ours when we asked for it. */
export type GatewayRefund = { id: string; amountMinor: number; status: 'done' | 'open' | 'failed'; key: string | null }

export async function refundsOf(stripe: Stripe, paymentIntentId: string): Promise<GatewayRefund[]> {
  const { data } = await stripe.refunds.list({ payment_intent: paymentIntentId, limit: 100 })
  return data.map(toGatewayRefund)
}

export function toGatewayRefund(refund: Stripe.Refund): GatewayRefund {
  const failed = refund.status === 'failed' || refund.status === 'canceled'
  return {
    id: refund.id,
    amountMinor: refund.amount,
    status: failed ? 'failed' : refund.status === 'succeeded' ? 'done' : 'open',
    key: refundKeyOf(refund.metadata)
  }
}

/** Takes in every refund of a payment, those made in the gateway's dashboard too; each counts once. */
export function applyRefunds(
  booking: Booking,
  attempt: AttemptRow,
  found: readonly GatewayRefund[]
): 'applied' | 'ignored' {
  const changed = found.map((refund) => applyRefund(booking, attempt, refund))
  return changed.some(Boolean) ? 'applied' : 'ignored'
}

function applyRefund(booking: Booking, attempt: AttemptRow, refund: GatewayRefund): boolean {
  const known = findRefund(booking.tx, refund)
  if (refund.status === 'failed') return takeFailure(booking, attempt, known, refund)
  if (known?.state === 'done') return false
  const row = keep(booking, attempt, known, refund)
  if (refund.status === 'open') return false
  count(booking, attempt, row)
  return true
}

/**
 * A refund that failed, even after it had succeeded, as a bank may report days later (docs.stripe.com/refunds): the
 * money is back at the shop, so the order counts as not refunded by it and can be refunded again.
 */
function takeFailure(
  booking: Booking,
  attempt: AttemptRow,
  known: RefundRow | undefined,
  { id }: GatewayRefund
): boolean {
  const { orderId } = attempt
  if (known === undefined || known.state === 'failed') return false
  setState(booking, known.id, 'failed', id)
  if (known.state === 'done' && isCounted(booking.tx, attempt)) {
    const cause = { by: booking.by, reason: `refund ${id} failed at the gateway` }
    reverseRefund(booking.tx, orderId, known.amountMinor, cause, booking.now)
  }
  const amount = formatMoney(known.amountMinor, known.currency)
  const message = `Refund ${id} of ${amount} for order ${orderId} failed: the money is back with the shop. Refund the order again, or pay the buyer in another way.`
  warn(booking, { orderId, kind: 'refund_failed', objectId: id, message })
  return true
}

/** Our row of it, with the gateway's id from the first time that it is heard of. */
function keep(booking: Booking, attempt: AttemptRow, known: RefundRow | undefined, refund: GatewayRefund): RefundRow {
  const { tx, by, now } = booking
  const state = refund.status === 'done' ? 'done' : 'requested'
  if (known !== undefined) return setState(booking, known.id, state, refund.id)
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

function setState({ tx, now }: Booking, id: number, state: RefundRow['state'], gatewayRefundId: string): RefundRow {
  return tx.orm
    .update(refunds)
    .set({ state, gatewayRefundId, updatedAt: now })
    .where(eq(refunds.id, id))
    .returning()
    .get()
}

/** What goes back of a payment that never counted for the order settles that payment, not the order. */
function count(booking: Booking, attempt: AttemptRow, { amountMinor, by, reason }: RefundRow): void {
  const { tx, now } = booking
  const { id, totalMinor, refundedMinor } = getOrder(tx, attempt.orderId)
  if (!isCounted(tx, attempt)) {
    for (const kind of ['mismatch', 'paid_twice'] as const) resolveWarning(booking, kind, attempt.objectId ?? '')
    return
  }
  const leftMinor = Math.min(amountMinor, totalMinor - refundedMinor)
  if (leftMinor > 0) recordRefund(tx, id, leftMinor, { by, reason }, now)
}

/** Whether the order rests on this payment, so that its refunds are the order's. */
function isCounted(tx: Tx, attempt: AttemptRow): boolean {
  return getOrder(tx, attempt.orderId).paidAt !== null && !isSurplus(tx, attempt)
}

function findRefund(tx: Tx, refund: GatewayRefund): RefundRow | undefined {
  const byId = tx.orm.select().from(refunds).where(eq(refunds.gatewayRefundId, refund.id)).get()
  if (byId !== undefined || refund.key === null) return byId
  return tx.orm.select().from(refunds).where(eq(refunds.gatewayKey, refund.key)).get()
}
