import { and, eq, sql } from 'drizzle-orm'
import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import { randomToken } from '../../platform/crypto/secrets.ts'
import type { Db } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import type { ShopContext } from '../context.ts'
import { promisedMinor, refundToCard } from '../orders/refunds/credits.ts'
import { getOrder } from '../orders/find.ts'
import { planRefundLines, storeOrderRefund } from '../orders/refunds/refund-lines.ts'
import type { WantedRefund } from '../orders/refunds/refund-lines.ts'
import { cancelReturnedCards, checkRefund, dropRefund, recordRefund, moveOrder } from '../orders/transition.ts'
import type { OrderRow } from '../orders/find.ts'
import { findPayingAttempt, getAttempt, updateAttempt } from './attempts.ts'
import { runUnitOfWork, resolveRefunds, warn } from './warnings.ts'
import type { UnitOfWork } from './warnings.ts'
import { findGatewayOf, readGatewayError, gatewayOf } from './gateway.ts'
import { refundMetadataOf } from './gateway-state.ts'
import { applyRefunds, causeOf, findRefund, refundsOf, toGatewayRefund } from './gateway-refunds.ts'
import type { GatewayRefund } from './gateway-refunds.ts'
import type { AttemptRow, RefundRow } from './rows.ts'
import { refunds } from './schema.ts'
import { divideRefund, sharesOf } from './tenders.ts'
import type { DividedRefund, RefundPart, RefundShares } from './tenders.ts'
import { endSubscriptionOf } from './subscriptions.ts'
import { acceptPayment, findUncountedPayment, mismatchedAttempts } from './unexpected-payment.ts'
import type { UncountedPayment } from './unexpected-payment.ts'

/**
 * Refunds an order. A card payment is refunded at the gateway under a key that is stored first: after a crash or a lost
 * answer the reconciler repeats the request, and the money goes back once. A payment by hand is recorded as refunded by
 * hand. A payment that arrived without counting for its unpaid order, such as one of another amount, is returned in full,
 * and its order is cancelled.
 *
 * @param wanted what to give back; all that is left if it names nothing
 * @param options.byHand only records that the operator has returned the money, and asks no gateway
 * @throws AppError as checkRefund; DEPENDENCY_UNAVAILABLE when the gateway cannot be reached (nothing is stored) or did
 *   not confirm (the reconciler repeats the request); CONFLICT when the gateway refuses, and without `byHand` for a
 *   charge at a gateway that this shop has left
 */
export async function refundOrder(
  shop: ShopContext,
  orderId: number,
  wanted: WantedRefund,
  by: string,
  { byHand = false }: { byHand?: boolean } = {}
): Promise<OrderRow> {
  const uncounted = byHand ? undefined : await findUncountedPayment(shop, orderId)
  if (uncounted?.wrong !== undefined) return returnPayment(shop, uncounted, wanted, by)
  if (uncounted !== undefined) await acceptPayment(shop, uncounted, by)
  const paid = findPayingAttempt(shop.db, orderId)
  if (byHand && paid !== undefined) await returnedAtGateway(shop, paid)
  await runWithRefunds(shop, by, (unit) => {
    const { order, refund } = checkRequest(shop, unit.tx, orderId, { ...wanted, byHand })
    return storeRefunds(shop, unit, { order, refund, byHand })
  })
  return getOrder(shop.db, orderId)
}

/**
 * Runs work that stores refunds in one write transaction, and then asks the gateway for them.
 *
 * @throws AppError as requestRefund, when the work is stored
 */
export async function runWithRefunds<T extends Pick<StoredRefund, 'refunds'>>(
  shop: ShopContext,
  by: string,
  work: (unit: UnitOfWork) => T extends PromiseLike<unknown> ? never : T
): Promise<T> {
  const done = await runUnitOfWork<T>(shop, by, work)
  for (const row of done.refunds) await requestRefund(shop, row, true)
  return done
}

export type RefundPlan = RefundShares & {
  amountMinor: number
  currency: string
  /** `gateway` if any of it goes back by card. */
  way: 'gateway' | 'by_hand' | 'gift_card'
  /** What the gateway has returned of the card payment that is refunded by hand; null if no gateway has it. */
  returnedMinor: number | null
}

/**
 * What `refundOrder` would do, for the operator to confirm. Nothing is stored.
 *
 * @throws AppError as refundOrder, for everything that is known before the gateway is asked to refund
 */
export async function planRefund(
  shop: ShopContext,
  orderId: number,
  wanted: WantedRefund,
  { byHand = false }: { byHand?: boolean } = {}
): Promise<RefundPlan> {
  const uncounted = byHand ? undefined : await findUncountedPayment(shop, orderId)
  if (uncounted !== undefined) {
    const { amountMinor: paidMinor, currency } = uncounted.state
    const { amountMinor = paidMinor } = uncounted.wrong === undefined ? wanted : {}
    return { amountMinor, currency, way: 'gateway', byHandMinor: 0, giftCardMinor: 0, returnedMinor: null }
  }
  const { order, refund, paid } = checkRequest(shop, shop.db, orderId, { ...wanted, byHand })
  const parts = divideRefund(shop.db, { order, refund, byHand })
  const returnedMinor = paid !== undefined && byHand ? await returnedAtGateway(shop, paid) : null
  const { amountMinor } = refund
  return { amountMinor, currency: order.currency, way: wayOf(parts), ...sharesOf(parts), returnedMinor }
}

function wayOf(parts: readonly RefundPart[]): RefundPlan['way'] {
  if (parts.some(({ attempt }) => attempt !== null)) return 'gateway'
  return parts.some(({ giftCardId }) => giftCardId !== null) ? 'gift_card' : 'by_hand'
}

/**
 * What the gateway has returned of a payment; null if it cannot be asked any more, because the shop has left it.
 *
 * @throws AppError CONFLICT when it has returned something that the shop does not know yet, which would count twice;
 *   DEPENDENCY_UNAVAILABLE when it does not answer
 */
async function returnedAtGateway(shop: ShopContext, paid: AttemptRow): Promise<number | null> {
  const gateway = findGatewayOf(shop, paid)
  if (gateway === undefined || paid.paymentIntentId === null) return null
  const found = await askForRefunds(await gateway.client(), paid.paymentIntentId, paid.orderId)
  const returned = found.filter(({ status }) => status !== 'failed')
  if (returned.some((refund) => findRefund(shop.db, refund) === undefined))
    throw new AppError(
      'CONFLICT',
      `The gateway has a refund of order ${paid.orderId} that the shop does not know yet. "shopstead orders reconcile" records it.`
    )
  return returned.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
}

async function askForRefunds(stripe: Stripe, paymentIntentId: string, orderId: number): Promise<GatewayRefund[]> {
  try {
    return await refundsOf(stripe, paymentIntentId)
  } catch (cause) {
    const why = `The gateway did not say what it has refunded of order ${orderId}. Try again when it can be reached.`
    throw new AppError('DEPENDENCY_UNAVAILABLE', why, {}, { cause })
  }
}

/** Whether a refund of the order is requested and not finished. */
export function isRefundOpen(db: Db, orderId: number): boolean {
  return requestedMinor(db, orderId) > 0
}

type Wanted = WantedRefund & { byHand: boolean }

/** What of an order can still be given back: not what is requested already, and not what it has promised to another order. */
export function refundableMinor(db: Db, { id, totalMinor, refundedMinor }: OrderRow): number {
  return totalMinor - refundedMinor - requestedMinor(db, id) - promisedMinor(db, id)
}

/** The amount of a refund and the card payment that it returns, if there is one. @throws AppError as refundOrder */
function checkRequest(shop: ShopContext, db: Db, orderId: number, { byHand, ...wanted }: Wanted) {
  const order = getOrder(db, orderId)
  const askedMinor = requestedMinor(db, orderId)
  const leftMinor = refundableMinor(db, order)
  const refund = planRefundLines(db, order, wanted, Math.max(0, leftMinor))
  const { amountMinor: wantedMinor } = refund
  if (askedMinor > 0 && (wantedMinor > leftMinor || leftMinor === 0)) throw unfinished(orderId)
  checkRefund(
    order,
    wantedMinor,
    refund.parts.some(({ quantity }) => quantity > 0)
  )
  const paid = findPayingAttempt(db, orderId)
  if (!byHand) refuseByHand(shop, db, orderId, paid)
  return { order, refund, paid }
}

/** A refund that is stored, and the parts of it that the gateway has to be asked for (`requestRefund`). */
export type StoredRefund = RefundShares & { refundMinor: number; refunds: RefundRow[] }

/**
 * Stores a refund that fits its order, divided by what paid the order. What goes back to gift cards, what the operator pays
 * back, and what costs nothing is then complete.
 *
 * @throws AppError as gatewayOf; CONFLICT for a payment that is not known yet
 */
export function storeRefunds(shop: ShopContext, { tx, by, now }: UnitOfWork, divided: DividedRefund): StoredRefund {
  const { order, refund } = divided
  const { id: orderId, currency } = order
  const parts = divideRefund(tx, divided)
  const refunds = parts.flatMap(({ refund: part, attempt, giftCardId }) => {
    if (giftCardId !== null) {
      const asked = storeOrderRefund(tx, order, { ...part, way: 'gift_card', giftCardId }, now)
      refundToCard(tx, giftCardId, { amountMinor: part.amountMinor, orderId, by }, now)
      recordRefund(tx, orderId, part.amountMinor, causeOf(by, `refunded to gift card ${giftCardId}`, part), now, asked)
      return []
    }
    if (attempt === null || part.amountMinor === 0) {
      const asked = storeOrderRefund(tx, order, part, now)
      recordRefund(tx, orderId, part.amountMinor, causeOf(by, 'refunded by hand', part), now, asked)
      resolveRefunds({ tx, now }, orderId)
      return []
    }
    // A stored refund will be paid out, so a refund that cannot be requested now is not stored.
    gatewayOf(shop, attempt)
    intentOf(attempt)
    const { id: orderRefundId } = storeOrderRefund(tx, order, part, now)
    // Otherwise a card could pay an order while the bank returns its price.
    cancelReturnedCards(tx, orderId, by, now)
    return storeRefund({ tx, by, now }, attempt, { orderId, amountMinor: part.amountMinor, currency, orderRefundId })
  })
  return { refundMinor: refund.amountMinor, ...sharesOf(parts), refunds }
}

function storeRefund(
  { tx, by, now }: Pick<UnitOfWork, 'tx' | 'by' | 'now'>,
  { id: attemptId }: AttemptRow,
  refund: Pick<RefundRow, 'orderId' | 'amountMinor' | 'currency' | 'orderRefundId'>
): RefundRow {
  const gatewayKey = `refund-${randomToken()}`
  const row = { attemptId, ...refund, gatewayKey, state: 'requested', by, reason: 'refunded' } as const
  return tx.orm
    .insert(refunds)
    .values({ ...row, createdAt: now, updatedAt: now })
    .returning()
    .get()
}

/**
 * Returns a payment that does not count for its order, as a whole, and cancels the order if it waits for a payment.
 *
 * @throws AppError CONFLICT for a partial amount and for a payment of another order
 */
async function returnPayment(
  shop: ShopContext,
  { attempt, state, wrong }: UncountedPayment,
  { amountMinor, items, shipping }: WantedRefund,
  by: string
): Promise<OrderRow> {
  const { orderId } = attempt
  const paid = formatMoney(state.amountMinor, state.currency)
  if (wrong?.kind === 'foreign')
    throw new AppError('CONFLICT', `${state.objectId} is not a payment of order ${orderId}: ${wrong.reason}.`)
  const isPart = amountMinor !== undefined && amountMinor !== state.amountMinor
  if (isPart || items !== undefined || shipping !== undefined) {
    const why = `The payment of order ${orderId} does not count for it, so all ${paid} go back. Leave out --amount, --item and --shipping.`
    throw new AppError('CONFLICT', why)
  }
  const asked = await runUnitOfWork(shop, by, (unit) => {
    const { tx, now } = unit
    if (requestedMinor(tx, orderId) > 0) throw unfinished(orderId)
    const { objectId, paymentIntentId, status: gatewayStatus } = state
    updateAttempt(
      tx,
      attempt.id,
      { objectId, paymentIntentId, gatewayStatus, outcome: 'abandoned', settledAt: now },
      now
    )
    if (getOrder(tx, orderId).status === 'pending')
      moveOrder(tx, orderId, 'cancelled', { by, reason: `its payment of ${paid} is returned` }, now)
    const { amountMinor, currency } = state
    return storeRefund(unit, attempt, { orderId, amountMinor, currency, orderRefundId: null })
  })
  await requestRefund(shop, asked, true)
  if (state.subscription !== null) await endSubscriptionOf(await gatewayOf(shop, attempt).client(), attempt)
  return getOrder(shop.db, orderId)
}

function unfinished(orderId: number): AppError {
  return new AppError(
    'CONFLICT',
    `Another refund of order ${orderId} is not finished. Wait until it is, then try again.`
  )
}

/** A charge that the gateway has is not recorded as refunded by hand unless the operator says so. */
function refuseByHand(shop: ShopContext, db: Db, orderId: number, paid: AttemptRow | undefined): void {
  if (paid !== undefined && !hasLeftCards(shop)) return
  const charged = paid ?? mismatchedAttempts(db, orderId)[0]
  if (charged === undefined) return
  const { gateway, objectId } = charged
  const what = paid === undefined ? 'is paid by hand, and the gateway has another payment of it' : 'was paid by card'
  throw new AppError(
    'CONFLICT',
    `Order ${orderId} ${what} (${gateway}, ${objectId ?? ''}). Refund that charge in the gateway's dashboard. To record that the buyer has got the money back, run "shopstead orders refund ${orderId} --by-hand".`
  )
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
export async function requestRefund(shop: ShopContext, row: RefundRow, watched: boolean): Promise<void> {
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
    if (row.orderRefundId !== null) dropRefund(tx, row.orderRefundId, row.by, now)
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
  // Written as in the partial index, otherwise SQLite does not use it.
  return db.orm
    .select()
    .from(refunds)
    .where(sql`state = 'requested'`)
    .all()
}
