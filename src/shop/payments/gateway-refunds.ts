import { eq } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { Tx } from '../../platform/db/database.ts'
import { getOrder } from '../orders/find.ts'
import { recordRefund } from '../orders/refund-order.ts'
import { isSurplus } from './attempts.ts'
import type { Booking } from './booking.ts'
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
    key: refund.metadata?.refund_key ?? null
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

/** Money that did not reach the buyer: nothing has gone back yet, or somebody has to pay him back in another way. */
function takeFailure(
  booking: Booking,
  { orderId }: AttemptRow,
  known: RefundRow | undefined,
  { id }: GatewayRefund
): boolean {
  if (known === undefined || known.state === 'failed') return false
  if (known.state === 'requested') setState(booking, known.id, 'failed', id)
  const message = `Refund ${id} of order ${orderId} failed at the gateway: pay the buyer back in another way.`
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
  const { id, paidAt, status, totalMinor, refundedMinor } = getOrder(tx, attempt.orderId)
  if (paidAt === null || isSurplus(tx, attempt)) {
    for (const kind of ['mismatch', 'paid_twice'] as const) resolveWarning(booking, kind, attempt.objectId ?? '')
    return
  }
  const leftMinor = Math.min(amountMinor, totalMinor - refundedMinor)
  if (leftMinor > 0 && status !== 'refunded') recordRefund(tx, id, leftMinor, { by, reason }, now)
}

function findRefund(tx: Tx, refund: GatewayRefund): RefundRow | undefined {
  const byId = tx.orm.select().from(refunds).where(eq(refunds.gatewayRefundId, refund.id)).get()
  if (byId !== undefined || refund.key === null) return byId
  return tx.orm.select().from(refunds).where(eq(refunds.gatewayKey, refund.key)).get()
}
