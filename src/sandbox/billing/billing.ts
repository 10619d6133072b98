import type Stripe from 'stripe'
import { chargeOffSession } from '../payments/charging.ts'
import { getStored, save } from '../http/context.ts'
import type { Context } from '../http/context.ts'
import { customerOf } from '../payments/customers.ts'
import { discountLines } from './prices.ts'
import { badState } from '../http/errors.ts'
import { emit } from '../events/events.ts'
import { createInvoice, failInvoice, payInvoice } from './invoices.ts'
import type { InvoiceLine } from './invoices.ts'
import { idOf } from '../store/ids.ts'
import { newIntent } from '../payments/intent-object.ts'
import type { SessionPlan } from '../store/objects.ts'
import { methodOf } from '../payments/payment-methods.ts'
import { anchoredSubscription, newSubscription, periodAfter } from './subscription-object.ts'
import type { SubscriptionTerms } from './subscription-object.ts'
import { clearTimer, setTimer } from '../timers.ts'

/** Days until each retry of a failed invoice. After the last one the subscription ends (Stripe's default, shortened). */
const retryDays = [3, 5, 7]

/** The forced result of a renewal's payment, whatever the card is. */
export type Renewal = 'paid' | 'failed'

/**
 * Creates the subscription of a completed Checkout Session, its customer and its first invoice. Emits
 * `customer.subscription.created` and the invoice's events. Returns the session with their ids; does not store it.
 */
export function startSubscription(
  context: Context,
  session: Stripe.Checkout.Session,
  plan: SessionPlan,
  intent: Stripe.PaymentIntent | null
): Stripe.Checkout.Session {
  const email = session.customer_details?.email ?? null
  const customer = customerOf(context, session)
  const paid = intent === null || intent.status === 'succeeded'
  const subscription = newSubscription(context, {
    ...plan.subscription,
    customer,
    lines: plan.lineItems,
    paymentMethod: idOf(intent?.payment_method) ?? plan.methodId,
    status: paid ? 'active' : 'incomplete'
  })
  save(context, 'subscription', subscription, { couponId: plan.couponId })
  const lines = plan.lineItems.map((line) => lineFrom(line, line.amount_discount))
  const period = periodOf(subscription)
  const open = createInvoice(context, {
    subscription,
    lines,
    reason: 'subscription_create',
    customerEmail: email,
    period
  })
  const named = save(context, 'subscription', { ...subscription, latest_invoice: open.id })
  emit(context, 'customer.subscription.created', named)
  if (intent) save(context, 'payment_intent', { ...intent, customer })
  if (paid) payInvoice(context, open, intent)
  setTimer(context, subscription.id, 'renew_subscription', period.end * 1000)
  return { ...session, customer, subscription: subscription.id, invoice: open.id }
}

/**
 * Begins a subscription without a checkout. Its first period is free and ends at the anchor (epoch seconds), when it renews
 * for the first time. Emits `customer.subscription.created`.
 */
export function beginAtAnchor(
  context: Context,
  anchor: number,
  prices: readonly { price: Stripe.Price; quantity: number }[],
  terms: Omit<SubscriptionTerms, 'lines' | 'status'>
): Stripe.Subscription {
  const begun = anchoredSubscription(context, anchor, prices, terms)
  save(context, 'subscription', begun, { couponId: null })
  emit(context, 'customer.subscription.created', begun)
  scheduleRenewal(context, begun)
  return begun
}

/** Activates or expires an incomplete subscription when its delayed first payment succeeds or fails. */
export function settleFirstInvoice(
  context: Context,
  session: Stripe.Checkout.Session,
  intent: Stripe.PaymentIntent
): void {
  const subscription = context.store.find('subscription', idOf(session.subscription) ?? '')?.object
  const invoice = context.store.find('invoice', idOf(session.invoice) ?? '')?.object
  if (!subscription || !invoice) return
  const paid = intent.status === 'succeeded'
  if (paid) payInvoice(context, invoice, intent)
  else failInvoice(context, invoice, intent, null)
  if (!paid) clearTimer(context, subscription.id, 'renew_subscription')
  update(context, subscription, { status: paid ? 'active' : 'incomplete_expired' })
}

/**
 * Ends the current period. A subscription that cancels at its period's end is canceled; one that is past due has its
 * open invoice retried; any other enters its next period and is charged. The test card decides the result unless
 * `forced` does.
 *
 * @throws StripeRefusal when the subscription is neither active nor past due
 */
export function renewSubscription(context: Context, id: string, forced?: Renewal): Stripe.Subscription {
  const { object: subscription } = getStored(context, 'subscription', id)
  if (!['active', 'past_due'].includes(subscription.status)) {
    throw badState(`This subscription has a status of ${subscription.status}; it does not renew.`)
  }
  const endsNow = subscription.cancel_at !== null && subscription.cancel_at <= periodOf(subscription).end
  if (endsNow) return endSubscription(context, subscription)
  const unpaid = context.store.find('invoice', idOf(subscription.latest_invoice) ?? '')?.object
  if (subscription.status === 'past_due' && unpaid?.status === 'open')
    return collect(context, subscription, unpaid, forced)
  const next = nextPeriod(context, subscription)
  return collect(context, next, invoiceOf(context, next), forced)
}

/** Cancels a subscription immediately and emits `customer.subscription.deleted`. */
export function endSubscription(context: Context, subscription: Stripe.Subscription): Stripe.Subscription {
  const ended = save(context, 'subscription', {
    ...subscription,
    status: 'canceled',
    canceled_at: subscription.canceled_at ?? context.now,
    ended_at: context.now
  })
  clearTimer(context, ended.id, 'renew_subscription')
  emit(context, 'customer.subscription.deleted', ended)
  return ended
}

/** Changes fields of a subscription and emits `customer.subscription.updated` with their previous values. */
export function update(
  context: Context,
  subscription: Stripe.Subscription,
  changes: Partial<Stripe.Subscription>
): Stripe.Subscription {
  const updated = save(context, 'subscription', { ...subscription, ...changes })
  const before = Object.fromEntries(Object.entries(subscription).filter(([name]) => Object.hasOwn(changes, name)))
  emit(context, 'customer.subscription.updated', updated, before)
  return updated
}

/**
 * The fields of a subscription that ends at a time, or no longer does. Flexible billing keeps `cancel_at_period_end` false
 * (docs.stripe.com/billing/subscriptions/cancel).
 */
export function endAt(context: Context, cancelAt: number | null): Partial<Stripe.Subscription> {
  return { cancel_at: cancelAt, cancel_at_period_end: false, canceled_at: cancelAt === null ? null : context.now }
}

function collect(
  context: Context,
  subscription: Stripe.Subscription,
  invoice: Stripe.Invoice,
  forced: Renewal | undefined
): Stripe.Subscription {
  const latest = { latest_invoice: invoice.id }
  if (invoice.amount_due === 0) {
    payInvoice(context, invoice, null)
    return activate(context, subscription, latest)
  }
  const intent = newIntent(context, {
    amount: invoice.amount_due,
    currency: invoice.currency,
    customer: idOf(subscription.customer),
    description: 'Subscription update',
    metadata: {},
    receipt_email: null,
    setup_future_usage: null,
    statement_descriptor: null
  })
  save(context, 'payment_intent', intent, { sessionId: null, returnUrl: null })
  emit(context, 'payment_intent.created', intent)
  // Without a card, as after a free first period that collected none, the invoice stays open.
  const methodId = idOf(subscription.default_payment_method)
  const attempted =
    methodId === null ? intent : chargeOffSession(context, intent, methodOf(context, methodId), forced).intent
  if (attempted.status === 'succeeded') {
    payInvoice(context, invoice, attempted)
    return activate(context, subscription, latest)
  }
  return markPastDue(context, subscription, invoice, attempted)
}

function activate(
  context: Context,
  subscription: Stripe.Subscription,
  latest: { latest_invoice: string }
): Stripe.Subscription {
  const active = update(context, subscription, { ...latest, status: 'active' })
  scheduleRenewal(context, active)
  return active
}

/** Sets the time of an active subscription's renewal, or of its end when `cancel_at` comes first. */
export function scheduleRenewal(context: Context, subscription: Stripe.Subscription): void {
  if (subscription.status !== 'active') return
  const dueSeconds = Math.min(periodOf(subscription).end, subscription.cancel_at ?? Number.POSITIVE_INFINITY)
  setTimer(context, subscription.id, 'renew_subscription', dueSeconds * 1000)
}

function markPastDue(
  context: Context,
  subscription: Stripe.Subscription,
  invoice: Stripe.Invoice,
  intent: Stripe.PaymentIntent
): Stripe.Subscription {
  const days = retryDays[invoice.attempt_count]
  const nextAttempt = days === undefined ? null : context.now + days * 86_400
  failInvoice(context, invoice, intent, nextAttempt)
  const pastDue = update(context, subscription, { latest_invoice: invoice.id, status: 'past_due' })
  if (nextAttempt === null) return endSubscription(context, pastDue)
  setTimer(context, subscription.id, 'renew_subscription', nextAttempt * 1000)
  return pastDue
}

function nextPeriod(context: Context, subscription: Stripe.Subscription): Stripe.Subscription {
  const data = subscription.items.data.map((item) => ({
    ...item,
    current_period_start: item.current_period_end,
    current_period_end: periodAfter(subscription.billing_cycle_anchor, item.current_period_end, item.price.recurring)
  }))
  return save(context, 'subscription', { ...subscription, items: { ...subscription.items, data } })
}

function invoiceOf(context: Context, subscription: Stripe.Subscription): Stripe.Invoice {
  const items = subscription.items.data
  const amounts = items.map(({ price, quantity }) => (price.unit_amount ?? 0) * (quantity ?? 1))
  const discounts = discountLines(renewalCoupon(context, subscription), amounts)
  const lines = items.map((item, at): InvoiceLine => {
    const product = context.store.find('product', idOf(item.price.product) ?? '')?.object
    return {
      description: product?.name ?? '',
      amountMinor: amounts[at] ?? 0,
      discountMinor: discounts[at] ?? 0,
      quantity: item.quantity ?? 1,
      priceId: item.price.id,
      productId: product?.id ?? ''
    }
  })
  const email = context.store.find('customer', idOf(subscription.customer) ?? '')?.object.email ?? null
  return createInvoice(context, {
    subscription,
    lines,
    reason: 'subscription_cycle',
    customerEmail: email,
    period: periodOf(subscription)
  })
}

/** The first purchase's coupon if its duration is `forever`. */
function renewalCoupon(context: Context, subscription: Stripe.Subscription): Stripe.Coupon | undefined {
  const { couponId } = getStored(context, 'subscription', subscription.id).hidden
  const coupon = couponId === null ? undefined : context.store.find('coupon', couponId)?.object
  return coupon?.duration === 'forever' ? coupon : undefined
}

function periodOf(subscription: Stripe.Subscription): { start: number; end: number } {
  const item = subscription.items.data[0]
  return { start: item?.current_period_start ?? 0, end: item?.current_period_end ?? 0 }
}

function lineFrom(line: Stripe.LineItem, discountMinor: number): InvoiceLine {
  return {
    description: line.description ?? '',
    amountMinor: line.amount_subtotal,
    discountMinor,
    quantity: line.quantity ?? 1,
    priceId: line.price?.id ?? '',
    productId: idOf(line.price?.product) ?? ''
  }
}
