import { desc, eq, isNull, or, sql } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import { randomToken } from '../../platform/crypto/secrets.ts'
import { isDay } from '../../platform/days.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree, rawStatement, statement, write } from '../../platform/db/database.ts'
import { insertion } from '../../platform/db/insert.ts'
import type { ShopContext } from '../context.ts'
import type { OrderRow } from '../orders/find.ts'
import type { AttemptRow } from './rows.ts'
import { paymentAttempts } from './schema.ts'
import { warnOfVatId, wasWarned } from './warnings.ts'
import { couponsOverLimit, describeOverLimit } from '../orders/coupon-uses.ts'
import { creditsOf, dueMinor } from '../orders/refunds/credits.ts'
import { getOrder, itemsOf } from '../orders/find.ts'
import { subscriptionInterval } from '../orders/renewal-order.ts'
import { confirmPayment, payOrder, moveOrder } from '../orders/transition.ts'
import { recurringOfOrder } from '../orders/renewal-order.ts'
import { takesToken } from '../orders/strategies.ts'
import { queueMail } from '../mail/queue.ts'
import { isReady } from './gateway.ts'
import { setting } from '../settings/settings.ts'
import { shopDay, startOfShopDay } from '../settings/shop-days.ts'

const byId = statement((orm) =>
  orm
    .select()
    .from(paymentAttempts)
    .where(eq(paymentAttempts.id, sql.placeholder('id')))
    .prepare()
)
const byToken = statement((orm) =>
  orm
    .select()
    .from(paymentAttempts)
    .where(eq(paymentAttempts.token, sql.placeholder('token')))
    .prepare()
)
const byOrder = statement((orm) =>
  orm
    .select()
    .from(paymentAttempts)
    .where(eq(paymentAttempts.orderId, sql.placeholder('orderId')))
    .orderBy(desc(paymentAttempts.id))
    .prepare()
)
const byObject = statement((orm) =>
  orm
    .select()
    .from(paymentAttempts)
    .where(
      or(
        eq(paymentAttempts.objectId, sql.placeholder('objectId')),
        eq(paymentAttempts.paymentIntentId, sql.placeholder('objectId'))
      )
    )
    .prepare()
)
const open = statement((orm) =>
  orm.select().from(paymentAttempts).where(isNull(paymentAttempts.outcome)).orderBy(paymentAttempts.updatedAt).prepare()
)

const newAttempt = insertion(paymentAttempts)

/**
 * Stores a payment attempt before the gateway is called. Its idempotency keys are random: a repeated call charges once, and
 * cannot collide with a call for another order, even after a restore.
 */
export function createAttempt(
  tx: Tx,
  order: Pick<OrderRow, 'id' | 'totalMinor' | 'discountMinor' | 'currency' | 'holdEndsAt'>,
  { gateway, kind, livemode }: Pick<AttemptRow, 'gateway' | 'kind' | 'livemode'>,
  now: number
): AttemptRow {
  const amountMinor = dueMinor(tx, order)
  const isCredited = amountMinor !== order.totalMinor
  // The page of an order with credits shows only what is due, and of a subscription its prices and a discount.
  const hasDiscount = isCredited ? isSubscription(tx, order.id) : order.discountMinor > 0
  return newAttempt.get(tx, {
    gateway,
    kind,
    livemode,
    orderId: order.id,
    amountMinor,
    currency: order.currency,
    token: randomToken(),
    createKey: `create-${randomToken()}`,
    confirmKey: `confirm-${randomToken()}`,
    // Known before Stripe is asked, so that the coupon can be deleted even if the answer is lost.
    discountCouponId: kind === 'checkout_session' && hasDiscount ? `shopstead-${randomToken()}` : null,
    expiresAt: order.holdEndsAt,
    createdAt: now,
    updatedAt: now
  })
}

function isSubscription(tx: Tx, orderId: number): boolean {
  return subscriptionInterval(itemsOf(tx, orderId)) !== null
}

/** The attempt with an id, which exists because other rows refer to it. */
export function getAttempt(db: Db, id: number): AttemptRow {
  const attempt = byId(db).get({ id })
  if (attempt === undefined) throw new Error(`payment attempt ${id} is missing`)
  return attempt
}

/** By the secret token that the gateway's object carries. */
export function findAttemptByToken(db: Db, token: string): AttemptRow | undefined {
  return byToken(db).get({ token })
}

/** By the id of its Checkout Session, Invoice or PaymentIntent. */
export function findAttemptByObject(db: Db, objectId: string): AttemptRow | undefined {
  return byObject(db).get({ objectId })
}

/** Newest first. */
export function attemptsOf(db: Db, orderId: number): AttemptRow[] {
  return byOrder(db).all({ orderId })
}

/** An order's attempts without a final outcome, newest first. */
export function openAttemptsOf(db: Db, orderId: number): AttemptRow[] {
  return attemptsOf(db, orderId).filter(({ outcome }) => outcome === null)
}

/** Attempts without a final outcome, the least recently changed first. */
export function openAttempts(db: Db): AttemptRow[] {
  return open(db).all()
}

/** What only an open attempt needs: a quarter of its row. */
const ofOpenAttempt = { createKey: '', confirmKey: '', url: null } as const

/** Changes columns of an attempt, and its time of change. One that gets an outcome loses its keys and its page. */
export function updateAttempt(tx: Tx, id: number, change: Partial<AttemptRow>, now: number): void {
  const isOver = (change.outcome ?? null) !== null
  tx.orm
    .update(paymentAttempts)
    .set({ ...change, ...(isOver ? ofOpenAttempt : {}), updatedAt: now })
    .where(eq(paymentAttempts.id, id))
    .run()
}

/** Whether the payment arrived after its order was paid in another way. */
export function isSurplus(db: Db, { objectId }: AttemptRow): boolean {
  return objectId !== null && wasWarned(db, 'paid_twice', objectId)
}

/** The card payment of an order; undefined while it is unpaid, and when it was paid by hand. */
export function findPayingAttempt(db: Db, orderId: number): AttemptRow | undefined {
  return attemptsOf(db, orderId).find((row) => row.outcome === 'paid' && row.objectId !== null && !isSurplus(db, row))
}

/** The gateway status of an attempt whose answer was lost; no checkout works on it any more. */
export const unanswered = 'unknown'

/** Marks an attempt as being worked on again, so that the reconciler leaves it for a while. */
export async function takeUpAttempt(shop: ShopContext, id: number): Promise<AttemptRow> {
  const attempt = getAttempt(shop.db, id)
  if (attempt.gatewayStatus !== unanswered) return attempt
  return writeWhenFree(shop.db, (tx) => {
    updateAttempt(tx, id, { gatewayStatus: null }, shop.clock.now())
    return getAttempt(tx, id)
  })
}

/** The status of an order's newest attempt, in the gateway's vocabulary; null without an attempt. */
export function paymentStatusOf(db: Db, orderId: number): string | null {
  const [newest] = attemptsOf(db, orderId)
  return newest === undefined ? null : (newest.gatewayStatus ?? newest.outcome ?? 'created')
}

/** How an order was paid (AdminOrder). */
export function paidBy(
  db: Db,
  { id, paidAt, totalMinor, imported }: OrderRow
): 'stripe' | 'sandbox' | 'by_hand' | 'credit' | 'gift_card' | null {
  if (paidAt === null || totalMinor === 0 || imported) return null
  const gateway = attemptsOf(db, id).find(({ outcome }) => outcome === 'paid')?.gateway
  if (gateway === 'stripe' || gateway === 'sandbox') return gateway
  if (dueMinor(db, { id, totalMinor }) > 0) return 'by_hand'
  return creditsOf(db, id).some(({ card }) => card !== null) ? 'gift_card' : 'credit'
}

/**
 * Records that an operator has received the payment: by transfer, in cash, or late by card. The history says if the
 * order's email had already used a coupon of it as often as one customer may.
 *
 * @param on the day (YYYY-MM-DD) in the shop's time zone on which the money arrived; today by default
 * @throws AppError TRANSITION_REFUSED, as `confirmPayment` does; VALIDATION_FAILED (`on`) for a day before the order was
 *   placed or that has not come; CONFLICT for a day of an order that is paid already
 */
export function markPaid(db: Db, orderId: number, by: string, now: number, on?: string): OrderRow {
  return write(db, (tx) => {
    const before = getOrder(tx, orderId)
    const { email } = before
    const arrival = on === undefined ? null : arrivalOf(tx, before, on, now)
    const overLimit = describeOverLimit(email === null ? [] : couponsOverLimit(tx, orderId, email))
    const paid = arrival === null ? 'marked as paid' : `marked as paid on ${arrival.day}`
    const reason = [paid, ...(overLimit === null ? [] : [overLimit])].join('; ')
    const cause = { by, reason, ...(arrival === null ? {} : { paidAt: arrival.at }) }
    const order = confirmPayment(tx, orderId, cause, now)
    warnOfVatId({ tx, now }, order)
    const isSettled = attemptsOf(tx, orderId).some(({ outcome }) => outcome === 'paid')
    endTransfers(tx, orderId, isSettled ? 'abandoned' : 'paid', now)
    return order
  })
}

/** When money of a day arrived: within that day, and not before the order was placed. */
function arrivalOf(db: Db, order: OrderRow, day: string, now: number): { day: string; at: number } {
  const { id, createdAt, paidAt } = order
  if (paidAt !== null) throw new AppError('CONFLICT', `Order ${id} is paid already, on ${shopDay(db, paidAt)}.`)
  const [first, last] = [shopDay(db, createdAt), shopDay(db, now)]
  if (!isDay(day) || day < first || day > last)
    throw validationFailed({ on: [`Must be a day from ${first}, when the order was placed, to ${last}.`] })
  return { day, at: day === last ? now : Math.max(createdAt, startOfShopDay(db, day)) }
}

/** Ends the order's attempts to pay by hand with an outcome. */
export function endTransfers(tx: Tx, orderId: number, outcome: 'paid' | 'abandoned', now: number): void {
  for (const { id, kind, outcome: known } of attemptsOf(tx, orderId)) {
    if (kind !== 'manual' || known === 'paid' || known === outcome) continue
    updateAttempt(tx, id, { outcome, settledAt: now }, now)
  }
}

/**
 * Whether an order that costs nothing needs a card: a coupon takes off the first period only, and the gateway renews the
 * subscriptions in it. A payment by token renews nothing.
 */
export function asksCard(db: Db, cards: ShopContext['cards'], order: OrderRow): boolean {
  if (order.totalMinor > 0 || takesToken(order.strategy) || !isReady(cards)) return false
  return (recurringOfOrder(db, order)?.totals.totalMinor ?? 0) > 0
}

/** Whether nothing is left to do for the payment of an order: nothing is due, and no card is asked for. */
export function isCovered(db: Db, cards: ShopContext['cards'], order: OrderRow): boolean {
  return dueMinor(db, order) === 0 && !asksCard(db, cards, order)
}

/** Marks an order as paid when nothing is due, without a gateway. */
export function payNothing(tx: Tx, order: OrderRow, now: number): OrderRow {
  const free = createAttempt(tx, order, { gateway: 'none', kind: 'none', livemode: false }, now)
  updateAttempt(tx, free.id, { outcome: 'paid', gatewayStatus: 'not_required', settledAt: now }, now)
  const reason = order.totalMinor > 0 ? 'paid by credit' : 'nothing to pay'
  const paid = payOrder(tx, order.id, { by: 'checkout', reason }, now)
  if (paid.totalMinor > 0) warnOfVatId({ tx, now }, paid)
  return paid
}

const dayMs = 24 * 60 * 60_000

/** An order that waits for a payment by hand, such as a bank transfer. `since` is when the buyer chose it. */
type Waiting = { orderId: number; email: string | null; since: number }

const waiting = rawStatement<{ until: number; orderId: number | null }, Waiting>(`
  SELECT o.id AS orderId, o.email, max(a.created_at) AS since
  FROM payment_attempts a JOIN orders o ON o.id = a.order_id
  WHERE a.outcome IS NULL AND a.kind = 'manual' AND +o.status = 'on-hold'
    AND (@orderId IS NULL OR o.id = @orderId)
  GROUP BY o.id HAVING max(a.created_at) <= @until ORDER BY o.id`)

const reminded = rawStatement<{ orderId: number; since: number }, { id: number }>(`
  SELECT id FROM mails
  WHERE template = 'payment_reminder' AND created_at >= @since AND data ->> '$.orderId' = @orderId LIMIT 1`)

/**
 * Cancels the orders whose transfer has not arrived within `payments.manualDays`, and reminds the buyers a day before.
 * Returns how many orders were cancelled.
 */
export async function endLateTransfers(shop: ShopContext): Promise<number> {
  const now = shop.clock.now()
  const limitMs = setting(shop.db, 'payments.manualDays') * dayMs
  const late = waiting(shop.db).all({ until: now - limitMs, orderId: null })
  for (const { orderId } of late) {
    await writeWhenFree(shop.db, (tx) => {
      // Read again under the lock: the transfer may have arrived meanwhile.
      if (waiting(tx).get({ until: now - limitMs, orderId }) === undefined) return
      moveOrder(tx, orderId, 'cancelled', { by: 'hold', reason: 'the transfer did not arrive in time' }, now)
      endTransfers(tx, orderId, 'abandoned', now)
    })
  }
  for (const { orderId, email, since } of waiting(shop.db).all({ until: now - limitMs + dayMs, orderId: null })) {
    if (email === null || reminded(shop.db).get({ orderId, since }) !== undefined) continue
    const data = { orderId, endsAt: since + limitMs }
    await writeWhenFree(shop.db, (tx) => queueMail(tx, { template: 'payment_reminder', recipient: email, data }, now))
  }
  return late.length
}
