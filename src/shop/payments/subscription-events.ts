import type Stripe from 'stripe'
import {
  endSubscription,
  hasEndedHere,
  linkSubscription,
  markPastDue,
  renewSubscription,
  reportFailedTry,
  setCancelAtPeriodEnd
} from '../benefits/subscriptions.ts'
import { queueMail } from '../mail/queue-mail.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import type { UnitOfWork } from './unit-of-work.ts'
import type { Effect } from './gateway-event.ts'
import { periodEndOf } from './gateway-state.ts'
import { assertFirstPaymentSettled, findOwnInvoice, findOwnSubscription, hasStarted } from './own-subscription.ts'
import type { OwnInvoice } from './own-subscription.ts'
import { isPaidRenewal, recordRenewal } from './renewals.ts'
import { forgetSubscription } from './subscription-ends.ts'

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
