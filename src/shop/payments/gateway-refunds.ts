import { eq } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { Tx } from '../../platform/db/database.ts'
import { getOrder } from '../orders/find.ts'
import { recordRefund } from '../orders/refund-order.ts'
import type { AttemptRow } from './rows.ts'
import { refunds } from './schema.ts'
import { warn } from './warnings.ts'

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
  tx: Tx,
  attempt: AttemptRow,
  found: readonly GatewayRefund[],
  by: string,
  now: number
): 'applied' | 'ignored' {
  const changed = found.map((refund) => applyRefund(tx, attempt, refund, by, now))
  return changed.some(Boolean) ? 'applied' : 'ignored'
}

function applyRefund(tx: Tx, attempt: AttemptRow, refund: GatewayRefund, by: string, now: number): boolean {
  const known = findRefund(tx, refund)
  if (known?.state === 'done' || (known?.state === 'failed' && refund.status === 'failed')) {
    return known.state === 'done' && refund.status === 'failed' ? warnOfReturn(tx, attempt, refund, now) : false
  }
  if (refund.status === 'open') return false
  const state = refund.status
  if (known === undefined) {
    if (state === 'failed') return false
    tx.orm
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
        reason: 'refunded at the gateway',
        createdAt: now,
        updatedAt: now
      })
      .run()
  } else {
    tx.orm
      .update(refunds)
      .set({ state, gatewayRefundId: refund.id, updatedAt: now })
      .where(eq(refunds.id, known.id))
      .run()
  }
  if (state === 'failed') return warnOfReturn(tx, attempt, refund, now)
  const left = getOrder(tx, attempt.orderId)
  const amountMinor = Math.min(refund.amountMinor, left.totalMinor - left.refundedMinor)
  if (amountMinor > 0 && left.status !== 'refunded') {
    recordRefund(
      tx,
      attempt.orderId,
      amountMinor,
      { by: known?.by ?? by, reason: known?.reason ?? `refunded at the gateway: ${refund.id}` },
      now
    )
  }
  return true
}

function findRefund(tx: Tx, refund: GatewayRefund) {
  const byId = tx.orm.select().from(refunds).where(eq(refunds.gatewayRefundId, refund.id)).get()
  if (byId !== undefined || refund.key === null) return byId
  return tx.orm.select().from(refunds).where(eq(refunds.gatewayKey, refund.key)).get()
}

/** The bank sent the money back to the shop: somebody has to pay the buyer in another way. */
function warnOfReturn(tx: Tx, attempt: AttemptRow, refund: GatewayRefund, now: number): boolean {
  const message = `Refund ${refund.id} of order ${attempt.orderId} failed at the gateway: pay the buyer back in another way.`
  warn(tx, { orderId: attempt.orderId, kind: 'refund_failed', objectId: refund.id, message }, now)
  return true
}
