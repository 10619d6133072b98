import { and, eq, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { randomToken } from '../../platform/crypto/secrets.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { checkRefund, recordRefund } from '../orders/refund-order.ts'
import type { OrderRow } from '../orders/rows.ts'
import { attemptsOf, getAttempt } from './attempts.ts'
import { readGatewayError } from './gateway-failure.ts'
import { applyRefunds, toGatewayRefund } from './gateway-refunds.ts'
import { readyGateway } from './gateway.ts'
import type { RefundRow } from './rows.ts'
import { refunds } from './schema.ts'

/**
 * Gives money back. A card payment is refunded at the gateway, under a key that was written down first: after a crash
 * or a lost answer the reconciler asks again and nothing goes back twice. Money that came by hand goes back by hand.
 *
 * @param amountMinor what goes back; undefined for all that is left
 * @throws AppError as checkRefund; DEPENDENCY_UNAVAILABLE when the gateway's answer is unknown (it will be settled),
 *   CONFLICT when it refuses.
 */
export async function refundOrder(
  shop: ShopContext,
  orderId: number,
  amountMinor: number | undefined,
  by: string
): Promise<OrderRow> {
  const asked = write(shop.db, (tx) => {
    const order = getOrder(tx, orderId)
    const leftMinor = order.totalMinor - order.refundedMinor - requestedMinor(tx, orderId)
    const wanted = amountMinor ?? leftMinor
    checkRefund(order, wanted)
    if (wanted > leftMinor) throw new AppError('CONFLICT', `A refund of order ${orderId} is still under way.`)
    const now = shop.clock.now()
    const paid = attemptsOf(tx, orderId).find(
      (attempt) => attempt.outcome === 'paid' && attempt.paymentIntentId !== null
    )
    if (paid === undefined)
      return { settled: recordRefund(tx, orderId, wanted, { by, reason: 'refunded by hand' }, now) }
    const row = tx.orm
      .insert(refunds)
      .values({
        orderId,
        attemptId: paid.id,
        amountMinor: wanted,
        currency: order.currency,
        gatewayKey: `refund-${randomToken()}`,
        state: 'requested',
        by,
        reason: 'refunded',
        createdAt: now,
        updatedAt: now
      })
      .returning()
      .get()
    return { row }
  })
  if (asked.row === undefined) return asked.settled
  await requestRefund(shop, asked.row)
  return getOrder(shop.db, orderId)
}

function requestedMinor(db: Db, orderId: number): number {
  const row = db.orm
    .select({ sum: sql<number>`coalesce(sum(${refunds.amountMinor}), 0)` })
    .from(refunds)
    .where(and(eq(refunds.orderId, orderId), eq(refunds.state, 'requested')))
    .get()
  return row?.sum ?? 0
}

/** Asks the gateway for a refund that has been written down; again and again it is the same refund. */
export async function requestRefund(shop: ShopContext, row: RefundRow): Promise<void> {
  const attempt = getAttempt(shop.db, row.attemptId ?? 0)
  const stripe = await readyGateway(shop).client()
  try {
    const refund = await stripe.refunds.create(
      {
        payment_intent: attempt.paymentIntentId ?? '',
        amount: row.amountMinor,
        metadata: { order_id: String(row.orderId), refund_key: row.gatewayKey }
      },
      { idempotencyKey: row.gatewayKey }
    )
    write(shop.db, (tx) => applyRefunds(tx, attempt, [toGatewayRefund(refund)], row.by, shop.clock.now()))
  } catch (error) {
    const failure = readGatewayError(error)
    shop.log.warn('a refund failed', { orderId: row.orderId, kind: failure.kind, code: failure.error.code })
    if (failure.kind === 'unknown') {
      throw new AppError(
        'DEPENDENCY_UNAVAILABLE',
        `The gateway did not say whether order ${row.orderId} was refunded; it will be asked again.`
      )
    }
    write(shop.db, (tx) => {
      tx.orm.update(refunds).set({ state: 'failed', updatedAt: shop.clock.now() }).where(eq(refunds.id, row.id)).run()
    })
    throw new AppError('CONFLICT', `The gateway refused the refund: ${failure.error.message || failure.error.type}`)
  }
}

/** Refunds that were asked for and whose answer was lost. */
export function unansweredRefunds(db: Db): RefundRow[] {
  return db.orm.select().from(refunds).where(eq(refunds.state, 'requested')).all()
}
