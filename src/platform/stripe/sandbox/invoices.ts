import type Stripe from 'stripe'
import { getKept, route, save } from './context.ts'
import type { Context, Route } from './context.ts'
import { emit } from './events.ts'
import { idOf, newId } from './ids.ts'
import { filtersOf, listAnswer, listPage, pageShape } from './lists.ts'
import { choice, shape, text } from './params.ts'

export type InvoiceLine = {
  description: string
  amountMinor: number
  discountMinor: number
  quantity: number
  priceId: string
  productId: string
}
export type InvoiceTerms = {
  subscription: Stripe.Subscription
  lines: readonly InvoiceLine[]
  reason: 'subscription_create' | 'subscription_cycle'
  customerEmail: string | null
  period: { start: number; end: number }
}

/** An open, finalized invoice for one period of a subscription. */
export function createInvoice(context: Context, terms: InvoiceTerms): Stripe.Invoice {
  const id = newId('in')
  const { subscription, period } = terms
  const subtotal = terms.lines.reduce((sum, line) => sum + line.amountMinor, 0)
  const total = terms.lines.reduce((sum, line) => sum + line.amountMinor - line.discountMinor, 0)
  const invoice = {
    id,
    object: 'invoice',
    account_country: 'DE',
    account_name: 'Sandbox',
    account_tax_ids: null,
    amount_due: total,
    amount_overpaid: 0,
    amount_paid: 0,
    amount_remaining: total,
    amount_shipping: 0,
    application: null,
    attempt_count: 0,
    attempted: false,
    auto_advance: true,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
    automatically_finalizes_at: null,
    billing_reason: terms.reason,
    collection_method: 'charge_automatically',
    created: context.now,
    currency: subscription.currency,
    custom_fields: null,
    customer: idOf(subscription.customer),
    customer_account: null,
    customer_address: null,
    customer_email: terms.customerEmail,
    customer_name: null,
    customer_phone: null,
    customer_shipping: null,
    customer_tax_exempt: 'none',
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    due_date: null,
    effective_at: context.now,
    ending_balance: 0,
    footer: null,
    from_invoice: null,
    hosted_invoice_url: null,
    invoice_pdf: null,
    issuer: { type: 'self' },
    last_finalization_error: null,
    latest_revision: null,
    lines: listAnswer(
      terms.lines.map((line) => invoiceLine(line, id, subscription, period)),
      `/v1/invoices/${id}/lines`
    ),
    livemode: false,
    metadata: {},
    next_payment_attempt: null,
    number: `SANDBOX-${id.slice(-8).toUpperCase()}`,
    on_behalf_of: null,
    parent: {
      quote_details: null,
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      type: 'subscription_details'
    },
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    period_end: period.end,
    period_start: period.start,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    starting_balance: 0,
    statement_descriptor: null,
    status: 'open',
    status_transitions: { finalized_at: context.now, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal,
    subtotal_excluding_tax: subtotal,
    test_clock: null,
    total,
    total_discount_amounts: [],
    total_excluding_tax: total,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: context.now
  } satisfies Stripe.Invoice
  save(context, 'invoice', invoice)
  emit(context, 'invoice.created', invoice)
  emit(context, 'invoice.finalized', invoice)
  return invoice
}

/** Books a payment of an invoice; without an intent nothing was due. */
export function payInvoice(
  context: Context,
  invoice: Stripe.Invoice,
  intent: Stripe.PaymentIntent | null
): Stripe.Invoice {
  const paid = save(context, 'invoice', {
    ...invoice,
    status: 'paid',
    amount_paid: invoice.amount_due,
    amount_remaining: 0,
    attempt_count: invoice.attempt_count + 1,
    attempted: true,
    next_payment_attempt: null,
    status_transitions: { ...invoice.status_transitions, paid_at: context.now }
  })
  if (intent) linkPayment(context, paid, intent, 'paid')
  emit(context, 'invoice.paid', paid)
  emit(context, 'invoice.payment_succeeded', paid)
  return paid
}

/** Notes that an invoice could not be collected, and when it is tried again (seconds; null for never). */
export function failInvoice(
  context: Context,
  invoice: Stripe.Invoice,
  intent: Stripe.PaymentIntent,
  nextAttempt: number | null
): Stripe.Invoice {
  const failed = save(context, 'invoice', {
    ...invoice,
    attempt_count: invoice.attempt_count + 1,
    attempted: true,
    next_payment_attempt: nextAttempt
  })
  linkPayment(context, failed, intent, 'open')
  emit(context, 'invoice.payment_failed', failed)
  return failed
}

function linkPayment(
  context: Context,
  invoice: Stripe.Invoice,
  intent: Stripe.PaymentIntent,
  status: 'open' | 'paid'
): void {
  const known = context.store.list('invoice_payment', [{ field: 'payment.payment_intent', value: intent.id }])
    .objects[0]
  const paid = status === 'paid'
  save(context, 'invoice_payment', {
    id: known?.id ?? newId('inpay'),
    object: 'invoice_payment',
    amount_paid: paid ? invoice.amount_paid : null,
    amount_requested: invoice.amount_due,
    created: context.now,
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { payment_intent: intent.id, type: 'payment_intent' },
    status,
    status_transitions: { canceled_at: null, paid_at: paid ? context.now : null }
  } satisfies Stripe.InvoicePayment)
}

function invoiceLine(
  line: InvoiceLine,
  invoiceId: string,
  subscription: Stripe.Subscription,
  period: { start: number; end: number }
): Stripe.InvoiceLineItem {
  const item = subscription.items.data.find(({ price }) => price.id === line.priceId)
  return {
    id: newId('il'),
    object: 'line_item',
    amount: line.amountMinor,
    currency: subscription.currency,
    description: line.description,
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice: invoiceId,
    livemode: false,
    metadata: {},
    parent: item
      ? {
          invoice_item_details: null,
          subscription_item_details: {
            invoice_item: null,
            proration: false,
            proration_details: null,
            subscription: subscription.id,
            subscription_item: item.id
          },
          type: 'subscription_item_details'
        }
      : null,
    period,
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: line.priceId, product: line.productId },
      type: 'price_details',
      unit_amount_decimal: null
    },
    quantity: line.quantity,
    quantity_decimal: null,
    subscription: subscription.id,
    subtotal: line.amountMinor,
    taxes: []
  }
}

const listShape = {
  ...pageShape,
  customer: text({ max: 255 }),
  status: choice('draft', 'open', 'paid', 'uncollectible', 'void'),
  subscription: text({ max: 255 })
}
const paymentsShape = {
  ...pageShape,
  invoice: text({ max: 255 }),
  payment: shape({ type: choice('payment_intent'), payment_intent: text({ max: 255 }) }),
  status: choice('canceled', 'open', 'paid')
}

export const invoiceRoutes: readonly Route[] = [
  route(
    'invoices.retrieve',
    'GET /v1/invoices/:id',
    {},
    (context, _params, id) => getKept(context, 'invoice', id).object
  ),
  route('invoices.list', 'GET /v1/invoices', listShape, (context, params) => {
    const of = params.subscription
    const bySubscription = of === undefined ? [] : [{ field: 'parent.subscription_details.subscription', value: of }]
    return listPage(context, 'invoice', params, '/v1/invoices', [
      ...filtersOf(params, 'customer', 'status'),
      ...bySubscription
    ])
  }),
  route(
    'invoice_payments.retrieve',
    'GET /v1/invoice_payments/:id',
    {},
    (context, _params, id) => getKept(context, 'invoice_payment', id).object
  ),
  route('invoice_payments.list', 'GET /v1/invoice_payments', paymentsShape, (context, params) => {
    const of = params.payment?.payment_intent
    const byIntent = of === undefined ? [] : [{ field: 'payment.payment_intent', value: of }]
    return listPage(context, 'invoice_payment', params, '/v1/invoice_payments', [
      ...filtersOf(params, 'invoice', 'status'),
      ...byIntent
    ])
  })
]
