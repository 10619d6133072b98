import type Stripe from 'stripe'
import type { Context } from '../http/context.ts'
import { newId } from '../store/ids.ts'
import { listAnswer } from '../http/lists.ts'

/** What a new subscription is created from. */
export type SubscriptionTerms = {
  customer: string
  lines: readonly Stripe.LineItem[]
  paymentMethod: string | null
  description: string | null
  metadata: Record<string, string>
  status: 'active' | 'incomplete'
}

/** Fields of a subscription that the sandbox never changes. */
const unused = {
  application: null,
  application_fee_percent: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null },
  billing_cycle_anchor_config: null,
  billing_mode: { flexible: null, type: 'flexible' },
  billing_schedules: [],
  billing_thresholds: null,
  cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
  collection_method: 'charge_automatically',
  customer_account: null,
  days_until_due: null,
  default_source: null,
  default_tax_rates: [],
  discounts: [],
  invoice_settings: {
    account_tax_ids: null,
    custom_fields: null,
    description: null,
    footer: null,
    issuer: { type: 'self' }
  },
  livemode: false,
  managed_payments: null,
  next_pending_invoice_item_invoice: null,
  on_behalf_of: null,
  pause_collection: null,
  payment_settings: { payment_method_options: null, payment_method_types: null, save_default_payment_method: 'off' },
  pending_invoice_item_interval: null,
  pending_setup_intent: null,
  pending_update: null,
  schedule: null,
  test_clock: null,
  transfer_data: null,
  trial_end: null,
  trial_settings: null,
  trial_start: null
} satisfies Partial<Stripe.Subscription>

/** A subscription whose first period begins now. The caller stores it. */
export function newSubscription(context: Context, terms: SubscriptionTerms): Stripe.Subscription {
  const priced = terms.lines.flatMap(({ price, quantity }) =>
    price?.recurring ? [{ price, quantity: quantity ?? 1 }] : []
  )
  return subscriptionOf(context, priced, { ...terms, currency: terms.lines[0]?.currency ?? '' })
}

type Priced = { price: Stripe.Price; quantity: number }

/** A subscription whose first period is free and ends at the anchor (epoch seconds). The caller stores it. */
export function anchoredSubscription(
  context: Context,
  anchor: number,
  prices: readonly Priced[],
  terms: Omit<SubscriptionTerms, 'lines' | 'status'>
): Stripe.Subscription {
  const currency = prices[0]?.price.currency ?? ''
  const made = subscriptionOf(context, prices, { ...terms, currency, status: 'active' })
  const data = made.items.data.map((item) => ({ ...item, current_period_end: anchor }))
  return { ...made, billing_cycle_anchor: anchor, items: { ...made.items, data } }
}

function subscriptionOf(
  context: Context,
  prices: readonly Priced[],
  terms: Omit<SubscriptionTerms, 'lines'> & { currency: string }
): Stripe.Subscription {
  const id = newId('sub')
  const items = prices.map((priced) => subscriptionItem(context, id, priced))
  return {
    ...unused,
    id,
    object: 'subscription',
    billing_cycle_anchor: context.now,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    created: context.now,
    currency: terms.currency,
    customer: terms.customer,
    default_payment_method: terms.paymentMethod,
    description: terms.description,
    ended_at: null,
    items: listAnswer(items, `/v1/subscription_items?subscription=${id}`),
    latest_invoice: null,
    metadata: terms.metadata,
    start_date: context.now,
    status: terms.status
  }
}

function subscriptionItem(
  context: Context,
  subscription: string,
  { price, quantity }: Priced
): Stripe.SubscriptionItem {
  return {
    id: newId('si', 14),
    object: 'subscription_item',
    billing_thresholds: null,
    created: context.now,
    current_period_end: periodAfter(context.now, context.now, price.recurring),
    current_period_start: context.now,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: planOf(price),
    price: { ...price, active: true },
    quantity,
    subscription,
    tax_rates: []
  }
}

function planOf(price: Stripe.Price): Stripe.Plan {
  return {
    id: price.id,
    object: 'plan',
    active: true,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: 'per_unit',
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? 'month',
    interval_count: price.recurring?.interval_count ?? 1,
    livemode: false,
    metadata: {},
    meter: null,
    nickname: null,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: 'licensed'
  }
}

/**
 * The end of the period that begins at `from`, in epoch seconds. Months are counted from `anchor`, so that a
 * subscription started on the 31st renews on the 31st again after a shorter month.
 */
export function periodAfter(anchor: number, from: number, recurring: Stripe.Price.Recurring | null): number {
  const { interval = 'month', interval_count: count = 1 } = recurring ?? {}
  const days = interval === 'day' ? count : interval === 'week' ? 7 * count : undefined
  if (days !== undefined) return from + days * 86_400
  const months = interval === 'year' ? 12 * count : count
  for (let periods = 1; ; periods += 1) {
    const end = addMonths(anchor, periods * months)
    if (end > from) return end
  }
}

function addMonths(seconds: number, months: number): number {
  const date = new Date(seconds * 1000)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, lastDay))
  return date.getTime() / 1000
}
