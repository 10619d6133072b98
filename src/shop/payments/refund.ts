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
import { runUnitOfWork } from './unit-of-work.ts'
import type { UnitOfWork } from './unit-of-work.ts'
import { readGatewayError } from './gateway-failure.ts'
import { applyRefunds, refundsOf, toGatewayRefund } from './gateway-refunds.ts'
import { gatewayOf } from './gateway.ts'
import { refundMetadataOf } from './metadata.ts'
import type { AttemptRow, RefundRow } from './rows.ts'
import { refunds } from './schema.ts'
import { warn } from './warnings.ts'

/**
 * Refunds an order. A card payment is refunded at the gateway under a key that is stored first: after a crash or a lost
 * answer the reconciler repeats the request, and the money goes back once. A payment by hand is recorded as refunded by
 * hand.
 *
 * @param amountMinor undefined refunds all that is left
 * @throws AppError as checkRefund; DEPENDENCY_UNAVAILABLE when the gateway cannot be reached (nothing is stored) or did
 *   not confirm (the reconciler repeats the request); CONFLICT when the gateway refuses
 */
export async function refundOrder(
  shop: ShopContext,
  orderId: number,
  amountMinor: number | undefined,
  by: string
): Promise<OrderRow> {
  const asked = await runUnitOfWork(shop, by, (unit) => askRefund(shop, unit, orderId, amountMinor))
  if (asked !== null) await requestRefund(shop, asked, true)
  return getOrder(shop.db, orderId)
}

/** Stores the requested refund; null for a payment by hand, whose refund is complete with that. */
function askRefund(
  shop: ShopContext,
  { tx, by, now }: UnitOfWork,
  orderId: number,
  amountMinor: number | undefined
): RefundRow | null {
  const order = getOrder(tx, orderId)
  const askedMinor = requestedMinor(tx, orderId)
  const leftMinor = order.totalMinor - order.refundedMinor - askedMinor
  const wanted = amountMinor ?? leftMinor
  if (askedMinor > 0 && (wanted > leftMinor || leftMinor === 0))
    throw new AppError(
      'CONFLICT',
      `Another refund of order ${orderId} is not finished. Wait until it is, then try again.`
    )
  checkRefund(order, wanted)
  const paid = findPayingAttempt(tx, orderId)
  if (paid === undefined || hasLeftCards(shop)) {
    recordRefund(tx, orderId, wanted, { by, reason: 'refunded by hand' }, now)
    return null
  }
  // A stored refund will be paid out, so a refund that cannot be requested now is not stored.
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

/** A shop that takes no cards any more and has no Stripe key cannot refund at the gateway. */
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
    await runUnitOfWork(shop, row.by, (unit) => applyRefunds(unit, attempt, [toGatewayRefund(refund)]))
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
  await runUnitOfWork(shop, 'gateway', (unit) => {
    const { tx, now } = unit
    tx.orm.update(refunds).set({ state: 'failed', updatedAt: now }).where(eq(refunds.id, id)).run()
    if (watched) return
    const amount = formatMoney(amountMinor, currency)
    const refusal = `Stripe refused to refund ${amount} of order ${orderId}: ${message || type}. Refund it in another way.`
    warn(unit, { orderId, kind: 'refund_failed', objectId: gatewayKey, message: refusal })
  })
  return new AppError('CONFLICT', `The gateway refused the refund: ${message || type}`)
}

function intentOf({ orderId, paymentIntentId }: AttemptRow): string {
  if (paymentIntentId !== null) return paymentIntentId
  throw new AppError(
    'CONFLICT',
    `The payment of order ${orderId} is not known yet. Run "shopstead orders reconcile", then try again.`
  )
}

/**
 * Settles a requested refund whose answer was lost or whose bank is slow. A refund that the gateway does not have is
 * requested again. The gateway's list decides, because it forgets idempotency keys after a day but keeps refunds.
 */
export async function settleRefund(shop: ShopContext, stripe: Stripe, row: RefundRow): Promise<void> {
  const attempt = getAttempt(shop.db, row.attemptId ?? 0)
  // A gateway that the shop no longer uses cannot be asked.
  if (attempt.gateway !== shop.cards?.name) return
  const found = await refundsOf(stripe, intentOf(attempt))
  await runUnitOfWork(shop, row.by, (unit) => applyRefunds(unit, attempt, found))
  const isUnknown = found.every(({ id, key }) => id !== row.gatewayRefundId && key !== row.gatewayKey)
  if (isUnknown) await requestRefund(shop, row, false)
}

/** Refunds that are requested and not finished. */
export function openRefunds(db: Db): RefundRow[] {
  return db.orm.select().from(refunds).where(eq(refunds.state, 'requested')).all()
}
