import { and, eq, sql } from 'drizzle-orm'
import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import { randomToken } from '../../platform/crypto/secrets.ts'
import type { Db } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { checkRefund, recordRefund } from '../orders/refund-order.ts'
import type { OrderRow } from '../orders/rows.ts'
import { findPayingAttempt, getAttempt } from './attempts.ts'
import { book } from './booking.ts'
import type { Booking } from './booking.ts'
import { readGatewayError } from './gateway-failure.ts'
import { applyRefunds, refundsOf, toGatewayRefund } from './gateway-refunds.ts'
import { gatewayOf } from './gateway.ts'
import { refundMetadataOf } from './metadata.ts'
import type { AttemptRow, RefundRow } from './rows.ts'
import { refunds } from './schema.ts'
import { warn } from './warnings.ts'

/**
 * Gives money back. A card payment is refunded at the gateway, under a key that was written down first: after a crash
 * or a lost answer the reconciler asks again and nothing goes back twice. Money that came by hand goes back by hand.
 *
 * @param amountMinor what goes back; undefined for all that is left
 * @throws AppError as checkRefund; DEPENDENCY_UNAVAILABLE when the gateway cannot be asked (nothing is written down) or
 *   its answer is unknown (it will be settled), CONFLICT when it refuses.
 */
export async function refundOrder(
  shop: ShopContext,
  orderId: number,
  amountMinor: number | undefined,
  by: string
): Promise<OrderRow> {
  const asked = await book(shop, by, (booking) => askRefund(shop, booking, orderId, amountMinor))
  if (asked !== null) await requestRefund(shop, asked, true)
  return getOrder(shop.db, orderId)
}

/** Writes the refund down; what came by hand is given back with that, and null is answered. */
function askRefund(
  shop: ShopContext,
  { tx, by, now }: Booking,
  orderId: number,
  amountMinor: number | undefined
): RefundRow | null {
  const order = getOrder(tx, orderId)
  const askedMinor = requestedMinor(tx, orderId)
  const leftMinor = order.totalMinor - order.refundedMinor - askedMinor
  const wanted = amountMinor ?? leftMinor
  if (askedMinor > 0 && (wanted > leftMinor || leftMinor === 0))
    throw new AppError('CONFLICT', `A refund of order ${orderId} is still under way.`)
  checkRefund(order, wanted)
  const paid = findPayingAttempt(tx, orderId)
  if (paid === undefined || hasLeftCards(shop)) {
    recordRefund(tx, orderId, wanted, { by, reason: 'refunded by hand' }, now)
    return null
  }
  // What is written down will be paid out, so nothing is that cannot be asked for now.
  gatewayOf(shop, paid)
  intentOf(paid)
  return tx.orm
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
}

/**
 * A shop that was told to take no cards and holds no key can ask no gateway ever again. Settings that are missing
 * altogether do not look like that: they mean a card gateway.
 */
function hasLeftCards({ cards, config }: ShopContext): boolean {
  return cards === null && config.stripe.secretKey === null
}

function requestedMinor(db: Db, orderId: number): number {
  const row = db.orm
    .select({ sum: sql<number>`coalesce(sum(${refunds.amountMinor}), 0)` })
    .from(refunds)
    .where(and(eq(refunds.orderId, orderId), eq(refunds.state, 'requested')))
    .get()
  return row?.sum ?? 0
}

/**
 * Asks the gateway for a refund that has been stored; repeated, it is the same refund.
 *
 * @param watched whether an operator sees the error; otherwise a refusal becomes a warning
 */
async function requestRefund(shop: ShopContext, row: RefundRow, watched: boolean): Promise<void> {
  const attempt = getAttempt(shop.db, row.attemptId ?? 0)
  const stripe = await gatewayOf(shop, attempt).client()
  try {
    const refund = await stripe.refunds.create(
      {
        payment_intent: intentOf(attempt),
        amount: row.amountMinor,
        metadata: refundMetadataOf(shop, { orderId: row.orderId, key: row.gatewayKey })
      },
      { idempotencyKey: row.gatewayKey }
    )
    await book(shop, row.by, (booking) => applyRefunds(booking, attempt, [toGatewayRefund(refund)]))
  } catch (error) {
    throw await refundFailure(shop, row, error, watched)
  }
}

async function refundFailure(shop: ShopContext, row: RefundRow, error: unknown, watched: boolean): Promise<Error> {
  const { id, orderId, amountMinor, currency, gatewayKey } = row
  if (error instanceof AppError) return error
  const failure = readGatewayError(error)
  const { type, code, message } = failure.error
  shop.log.warn('a refund failed', { orderId, kind: failure.kind, code: code ?? type })
  if (failure.kind === 'unknown' || failure.temporary) {
    const why = `Stripe did not confirm the refund of order ${orderId}. The shop asks again until it does.`
    return new AppError('DEPENDENCY_UNAVAILABLE', why)
  }
  await book(shop, 'gateway', (booking) => {
    const { tx, now } = booking
    tx.orm.update(refunds).set({ state: 'failed', updatedAt: now }).where(eq(refunds.id, id)).run()
    if (watched) return
    const amount = formatMoney(amountMinor, currency)
    const refusal = `Stripe refused to refund ${amount} of order ${orderId}: ${message || type}. Refund it in another way.`
    warn(booking, { orderId, kind: 'refund_failed', objectId: gatewayKey, message: refusal })
  })
  return new AppError('CONFLICT', `The gateway refused the refund: ${message || type}`)
}

function intentOf({ orderId, paymentIntentId }: AttemptRow): string {
  if (paymentIntentId !== null) return paymentIntentId
  throw new AppError('CONFLICT', `The gateway has not said which payment of order ${orderId} to refund.`)
}

/**
 * Finds out what has become of a refund that was asked for: its answer was lost, or the bank takes its time. Only one
 * that the gateway has never heard of is asked for again; keys are forgotten after a day, refunds are not.
 */
export async function settleRefund(shop: ShopContext, stripe: Stripe, row: RefundRow): Promise<void> {
  const attempt = getAttempt(shop.db, row.attemptId ?? 0)
  // A gateway that the shop has left cannot be asked from here.
  if (attempt.gateway !== shop.cards?.name) return
  const found = await refundsOf(stripe, intentOf(attempt))
  await book(shop, row.by, (booking) => applyRefunds(booking, attempt, found))
  const isUnknown = found.every(({ id, key }) => id !== row.gatewayRefundId && key !== row.gatewayKey)
  if (isUnknown) await requestRefund(shop, row, false)
}

/** Refunds that the gateway has not brought to an end yet, as far as the shop knows. */
export function openRefunds(db: Db): RefundRow[] {
  return db.orm.select().from(refunds).where(eq(refunds.state, 'requested')).all()
}
