import type Stripe from 'stripe'
import {
  endSubscription,
  linkSubscription,
  markPastDue,
  renewSubscription,
  setCancelAtPeriodEnd
} from '../benefits/subscriptions.ts'
import type { ShopContext } from '../context.ts'
import type { UnitOfWork } from './unit-of-work.ts'
import type { Effect } from './gateway-event.ts'
import { periodEndOf } from './gateway-state.ts'
import { findOwnInvoice, findOwnSubscription, hasStarted } from './own-subscription.ts'
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
  if (own === undefined || !hasStarted(shop, own)) return undefined
  return (unit) => {
    if (isPaidRenewal(own)) recordRenewal(unit, own)
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
    recordEnd(unit, gatewayId)
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
  setCancelAtPeriodEnd(tx, gatewayId, endsWithPeriod(subscription))
  return 'applied'
}

/** Records that Stripe renews a subscription no more. What is paid stays in force to its end. */
export function recordEnd({ tx, now }: UnitOfWork, gatewayId: string): void {
  endSubscription(tx, gatewayId, now)
  forgetSubscription(tx, gatewayId, now)
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
