import type Stripe from 'stripe'
import {
  isLinked,
  recordInvoice,
  endSubscription,
  hasEndedHere,
  linkSubscription,
  markPastDue,
  renewSubscription,
  reportFailedTry,
  setCancelAtPeriodEnd
} from '../benefits/subscriptions.ts'
import type { ShopContext } from '../context.ts'
import {
  findAttemptByToken,
  isSurplus,
  createAttempt,
  findAttemptByObject,
  getAttempt,
  updateAttempt
} from './attempts.ts'
import { idOf, ownership, unlessMissing, periodEndOf, lookUp } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'
import { getOrder } from '../orders/find.ts'
import { payOrder } from '../orders/transition.ts'
import { insertRenewal } from '../orders/renewal-order.ts'
import type { UnitOfWork } from './warnings.ts'
import { queueMail } from '../mail/queue.ts'
import type { Effect } from './gateway-state.ts'
import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { sqlList } from '../../platform/db/columns.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree, rawStatement } from '../../platform/db/database.ts'
import { restAfter } from '../../platform/clock.ts'
import { describeError } from '../../platform/log.ts'
import { gatewaySubscriptions, subscriptions } from '../benefits/schema.ts'
import { releasedStatuses } from '../orders/states.ts'
import { lostDisputeReason } from './disputes.ts'
import { isUnavailable, readyGateway } from './gateway.ts'

/** A subscription at Stripe that an order of this shop started, and the attempt that pays its first period. */
export type OwnSubscription = { subscription: Stripe.Subscription; attempt: AttemptRow }

/** An invoice of such a subscription. */
export type OwnInvoice = OwnSubscription & { invoice: Stripe.Invoice }

/** The subscription with an id, fetched with its newest invoice; undefined when no order of this shop started it. */
export async function findOwnSubscription(
  shop: ShopContext,
  stripe: Stripe,
  id: string
): Promise<OwnSubscription | undefined> {
  const answer = stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })
  const subscription = isLinked(shop.db, id) ? await answer : await unlessMissing(answer)
  const owner = subscription && ownership(shop, subscription.metadata)
  const attempt = owner ? findAttemptByToken(shop.db, owner.token) : undefined
  return subscription && attempt && { subscription, attempt }
}

/** Whether its first payment is recorded and counts for its order; before that there is nothing to renew. */
export function hasStarted(shop: ShopContext, { attempt }: OwnSubscription): boolean {
  return attempt.outcome === 'paid' && !isSurplus(shop.db, attempt)
}

/**
 * Refuses the money of a renewal while the first payment has no outcome, because its event is applied once and must not be
 * ignored.
 *
 * @throws while the first payment is not recorded; the event is delivered or listed again later
 */
export function assertFirstPaymentSettled({ attempt }: OwnSubscription): void {
  if (attempt.outcome === null) throw new Error(`the first payment of order ${attempt.orderId} is not settled yet`)
}

/** The invoice with an id, when it belongs to a subscription of this shop. */
export async function findOwnInvoice(shop: ShopContext, stripe: Stripe, id: string): Promise<OwnInvoice | undefined> {
  const invoice = await unlessMissing(stripe.invoices.retrieve(id, { expand: ['payments'] }))
  const subscriptionId = idOf(invoice?.parent?.subscription_details?.subscription)
  if (invoice === undefined || subscriptionId === null) return undefined
  const own = await findOwnSubscription(shop, stripe, subscriptionId)
  return own && { ...own, invoice }
}

/** Whether an invoice is money for another period: paid, and not the one that started the subscription. */
export function isPaidRenewal({ invoice }: OwnInvoice): boolean {
  return invoice.status === 'paid' && invoice.billing_reason !== 'subscription_create'
}

/**
 * Records a paid invoice as an order of its own, linked to the order that started the subscription, with the payment,
 * receipt and events of any paid order. An invoice that is already recorded changes nothing.
 *
 * @returns the attempt that represents the invoice's payment
 */
export function recordRenewal(unit: UnitOfWork, { invoice, subscription, attempt: first }: OwnInvoice): AttemptRow {
  const { tx, by, now } = unit
  const known = findAttemptByObject(tx, invoice.id)
  if (known !== undefined) return known
  const original = getOrder(tx, first.orderId)
  const currency = invoice.currency.toUpperCase()
  const order = insertRenewal(tx, original, { amountMinor: invoice.amount_paid, currency, by }, now)
  const { gateway, livemode } = first
  const { id } = createAttempt(tx, order, { gateway, kind: 'invoice', livemode }, now)
  const paid = { objectId: invoice.id, paymentIntentId: intentOf(invoice), gatewayStatus: 'paid' }
  updateAttempt(tx, id, { ...paid, outcome: 'paid', settledAt: now }, now)
  const periods = invoice.lines.data.map(({ period }) => period)
  recordInvoice(tx, {
    invoiceId: invoice.id,
    orderId: order.id,
    gatewayId: subscription.id,
    periodStart: Math.min(...periods.map(({ start }) => start), invoice.period_end) * 1000,
    periodEnd: Math.max(...periods.map(({ end }) => end), invoice.period_end) * 1000
  })
  payOrder(tx, order.id, { by, reason: `paid: ${invoice.id}` }, now)
  return getAttempt(tx, id)
}

function intentOf({ payments }: Stripe.Invoice): string | null {
  const paid = payments?.data.find(({ status }) => status === 'paid')
  return idOf(paid?.payment.payment_intent)
}

/**
 * Brings the benefit of a subscription in line with the subscription itself, as it is now: it does not matter which of
 * its events arrives, or in what order. Undefined for a subscription that no order of this shop started.
 */
export async function subscriptionEffect(shop: ShopContext, stripe: Stripe, id: string): Promise<Effect | undefined> {
  const own = await findOwnSubscription(shop, stripe, id)
  if (own === undefined || !hasStarted(shop, own)) return undefined
  return (unit) => applySubscription(unit, own.attempt.orderId, own.subscription)
}

/** The same for an event of an invoice; a paid renewal becomes an order of its own first. */
export async function invoiceEffect(shop: ShopContext, stripe: Stripe, id: string): Promise<Effect | undefined> {
  const own = await findOwnInvoice(shop, stripe, id)
  if (own === undefined) return undefined
  if (isPaidRenewal(own)) assertFirstPaymentSettled(own)
  if (!hasStarted(shop, own)) return undefined
  return (unit) => {
    if (isPaidRenewal(own)) recordRenewal(unit, own)
    reportFailure(unit, own)
    return applySubscription(unit, own.attempt.orderId, own.subscription)
  }
}

const over: ReadonlySet<string> = new Set(['canceled', 'incomplete_expired'])
const owing: ReadonlySet<string> = new Set(['past_due', 'unpaid'])

/** Records what a subscription at Stripe is now, with its `latest_invoice` expanded, for the order that started it. */
export function applySubscription(unit: UnitOfWork, orderId: number, subscription: Stripe.Subscription): 'applied' {
  const { tx, now } = unit
  const { id: gatewayId, status } = subscription
  if (isOver(subscription)) {
    recordEnd(unit, orderId, gatewayId)
    return 'applied'
  }
  // Stripe moves the period on before it is paid.
  if (isPaid(subscription)) {
    const currentPeriodEnd = periodEndOf(subscription)
    const isRenewed = renewSubscription(tx, gatewayId, currentPeriodEnd, now)
    // An order that has given no benefit yet (a guest's, or one on hold) stores the paid period for later.
    if (!isRenewed) linkSubscription(tx, { orderId, gatewayId, currentPeriodEnd }, now)
  }
  if (owing.has(status)) markPastDue(tx, gatewayId, now)
  const isEnding = endsWithPeriod(subscription)
  if (setCancelAtPeriodEnd(tx, gatewayId, isEnding) && isEnding) confirmEnd(unit, orderId, gatewayId)
  return 'applied'
}

/** Confirms to the buyer by email that the subscription ends with the paid period, however it was cancelled. */
function confirmEnd({ tx, now }: UnitOfWork, orderId: number, gatewayId: string): void {
  const { email } = getOrder(tx, orderId)
  if (email === null || hasEndedHere(tx, gatewayId)) return
  queueMail(tx, { template: 'subscription_cancelled', recipient: email, data: { orderId } }, now)
}

/**
 * Records that Stripe renews a subscription no more, and tells its buyer by email unless a refund or the operator ended
 * it. What is paid stays in force to its end.
 */
export function recordEnd({ tx, now }: UnitOfWork, orderId: number, gatewayId: string): void {
  const hadEnded = hasEndedHere(tx, gatewayId)
  endSubscription(tx, gatewayId, now)
  const isNew = forgetSubscription(tx, gatewayId, now)
  const { email } = getOrder(tx, orderId)
  if (!isNew || hadEnded || email === null) return
  queueMail(tx, { template: 'subscription_ended', recipient: email, data: { orderId } }, now)
}

/** Emails the buyer that a try to charge a renewal failed, with a link to pay with another card; once for each try. */
function reportFailure({ tx, now }: UnitOfWork, { invoice, attempt, subscription }: OwnInvoice): void {
  const { email, id: orderId } = getOrder(tx, attempt.orderId)
  const isFailed = invoice.status === 'open' && invoice.attempt_count > 0
  if (!isFailed || email === null) return
  if (!reportFailedTry(tx, subscription.id, `${invoice.id} ${invoice.attempt_count}`)) return
  const nextTry = invoice.next_payment_attempt
  const data = {
    orderId,
    amountMinor: invoice.amount_remaining,
    currency: invoice.currency.toUpperCase(),
    payUrl: invoice.hosted_invoice_url ?? null,
    nextTryAt: nextTry === null ? null : nextTry * 1000
  }
  queueMail(tx, { template: 'renewal_failed', recipient: email, data }, now)
}

/** Whether a subscription has ended at Stripe. */
export function isOver({ status }: Stripe.Subscription): boolean {
  return over.has(status)
}

/**
 * Whether a subscription ends with its current period. A subscription with flexible billing that is cancelled in
 * Stripe's portal has `cancel_at` and leaves `cancel_at_period_end` false (docs.stripe.com/billing/subscriptions/cancel).
 */
export function endsWithPeriod(subscription: Stripe.Subscription): boolean {
  const { cancel_at: cancelAt, cancel_at_period_end: atPeriodEnd } = subscription
  return atPeriodEnd || (cancelAt !== null && cancelAt * 1000 <= periodEndOf(subscription))
}

/** Whether the current period is paid; it needs `latest_invoice` expanded. */
export function isPaid({ latest_invoice: invoice, status }: Stripe.Subscription): boolean {
  return status === 'active' && typeof invoice === 'object' && invoice?.status === 'paid'
}

/**
 * Subscriptions that the gateway must not renew any more: their benefit has ended, their order is off and no renewal
 * pays for the current period, the newest renewal was refunded, a lost dispute refunded one of their orders, or the buyer
 * was erased (which leaves no email). Only those that were paid for at the gateway that is asked.
 */
const isUnwanted = `(o.email IS NULL OR EXISTS
    (SELECT 1 FROM subscriptions s WHERE s.order_id = found.order_id AND s.cancelled_at IS NOT NULL)
  OR (o.status IN (${sqlList(releasedStatuses)}) AND NOT EXISTS
    (SELECT 1 FROM orders r WHERE r.renewal_of = o.id AND r.paid_at IS NOT NULL
        AND r.status NOT IN (${sqlList(releasedStatuses)})))
  OR EXISTS (SELECT 1 FROM subscription_invoices i JOIN orders r ON r.id = i.order_id
      WHERE i.gateway_id = found.gateway_id AND i.period_end >= found.current_period_end AND r.status = 'refunded')
  OR EXISTS (SELECT 1 FROM orders r JOIN order_history h ON h.order_id = r.id
      WHERE (r.id = o.id OR r.renewal_of = o.id) AND h.to_status = 'refunded' AND h.reason LIKE '${lostDisputeReason}'))`
const isPaidAtGateway = `EXISTS (SELECT 1 FROM payment_attempts a WHERE a.order_id = found.order_id AND a.outcome = 'paid'
  AND a.gateway = @gateway AND a.livemode = @livemode)`

type AtGateway = { gateway: string; livemode: 0 | 1 }

const revoked = rawStatement<AtGateway, { gatewayId: string }>(
  `SELECT DISTINCT gateway_id AS gatewayId FROM subscriptions found
   WHERE cancelled_at IS NOT NULL AND gateway_id IS NOT NULL AND ${isPaidAtGateway}`
)
/** The next running subscriptions after an id, and whether each of them is unwanted. */
const nextRunning = rawStatement<
  AtGateway & { after: string; limit: number },
  { gatewayId: string; isUnwanted: 0 | 1 }
>(
  `SELECT found.gateway_id AS gatewayId,
     (${isUnwanted} AND ${isPaidAtGateway}) AS isUnwanted
   FROM gateway_subscriptions found INDEXED BY gateway_subscriptions_open
   CROSS JOIN orders o ON o.id = found.order_id
   WHERE found.ended_at IS NULL AND found.gateway_id > @after ORDER BY found.gateway_id LIMIT @limit`
)

/** Subscriptions of one read: each has up to a renewal a month, and requests wait meanwhile, a few milliseconds. */
const perRead = 20

async function findUnwanted(db: Db, at: AtGateway): Promise<Set<string>> {
  const found = new Set(
    revoked(db)
      .all(at)
      .map(({ gatewayId }) => gatewayId)
  )
  for (let after: string | undefined = ''; after !== undefined;) {
    const startedAt = performance.now()
    const next = nextRunning(db).all({ ...at, after, limit: perRead })
    for (const { gatewayId, isUnwanted: ends } of next) if (ends === 1) found.add(gatewayId)
    after = next.length < perRead ? undefined : next.at(-1)?.gatewayId
    if (after !== undefined) await restAfter(startedAt, 1 / 5)
  }
  return found
}

/**
 * Ends subscriptions at the gateway that must not renew any more. A subscription that the gateway refuses to end does not
 * delay the others. Returns how many there were.
 *
 * @throws the first refusal, after all others were tried; immediately when the gateway does not answer or asks for fewer calls
 */
export async function endUnwantedSubscriptions(shop: ShopContext, stripe: Stripe): Promise<number> {
  const { name: gateway, livemode } = readyGateway(shop)
  const refused: unknown[] = []
  const found = await findUnwanted(shop.db, { gateway, livemode: livemode ? 1 : 0 })
  for (const gatewayId of found) {
    try {
      await cancelSubscription(stripe, gatewayId)
      await writeWhenFree(shop.db, (tx) => forgetSubscription(tx, gatewayId, shop.clock.now()))
    } catch (error) {
      if (isUnavailable(error)) throw error
      shop.log.warn('a subscription could not be ended', { object: gatewayId, error: describeError(error) })
      refused.push(error)
    }
  }
  if (refused.length > 0) throw refused[0]
  return found.size
}

/** Marks a subscription as ended at the gateway; false when it was marked before. */
export function forgetSubscription(tx: Tx, gatewayId: string, now: number): boolean {
  tx.orm
    .update(subscriptions)
    .set({ gatewayId: null })
    .where(and(eq(subscriptions.gatewayId, gatewayId), isNotNull(subscriptions.cancelledAt)))
    .run()
  const { changes } = tx.orm
    .update(gatewaySubscriptions)
    .set({ endedAt: now })
    .where(and(eq(gatewaySubscriptions.gatewayId, gatewayId), isNull(gatewaySubscriptions.endedAt)))
    .run()
  return changes > 0
}

/** Ends the subscription that a refunded payment started, if it started one. */
export async function endSubscriptionOf(stripe: Stripe, attempt: AttemptRow): Promise<void> {
  if (attempt.kind !== 'checkout_session') return
  const state = await lookUp(stripe, attempt)
  if (state?.subscription) await cancelSubscription(stripe, state.subscription.id)
}

async function cancelSubscription(stripe: Stripe, id: string): Promise<void> {
  const subscription = await unlessMissing(stripe.subscriptions.retrieve(id))
  if (subscription === undefined) return
  const isOver = subscription.status === 'canceled' || subscription.status === 'incomplete_expired'
  if (!isOver) await unlessMissing(stripe.subscriptions.cancel(id))
}
