import type Stripe from 'stripe'
import { getStored, route, save } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { emit } from '../events/events.ts'
import { newId, idOf } from '../store/ids.ts'
import { filtersOf, listPage, pageShape, listAnswer } from '../http/lists.ts'
import { choice, shape, text } from '../http/params.ts'

/** Stores an open, finalized invoice for one period of a subscription and emits its events. */
export function createInvoice(context: Context, terms: InvoiceTerms): Stripe.Invoice {
  const invoice = save(context, 'invoice', newInvoice(context, terms))
  emit(context, 'invoice.created', invoice)
  emit(context, 'invoice.finalized', invoice)
  return invoice
}

/** Marks an invoice as paid and emits its events. `intent` is its payment, or null when nothing was due. */
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

/** Records a failed payment of an invoice. `nextAttempt` is the time of the next one in epoch seconds, or null. */
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

/** The command line may have created the invoice, but the server that answers has the page. */
function withPage({ publicUrl }: Context, invoice: Stripe.Invoice): Stripe.Invoice {
  return { ...invoice, hosted_invoice_url: `${publicUrl}/sandbox/invoice/${invoice.id}` }
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
  route('invoices.retrieve', 'GET /v1/invoices/:id', {}, (context, _params, id) =>
    withPage(context, getStored(context, 'invoice', id).object)
  ),
  route('invoices.list', 'GET /v1/invoices', listShape, (context, params) => {
    const of = params.subscription
    const bySubscription = of === undefined ? [] : [{ field: 'parent.subscription_details.subscription', value: of }]
    const filters = [...filtersOf(params, 'customer', 'status'), ...bySubscription]
    const page = listPage(context, 'invoice', params, '/v1/invoices', filters)
    return { ...page, data: page.data.map((invoice) => withPage(context, invoice)) }
  }),
  route(
    'invoice_payments.retrieve',
    'GET /v1/invoice_payments/:id',
    {},
    (context, _params, id) => getStored(context, 'invoice_payment', id).object
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

type Period = { start: number; end: number }
export type InvoiceLine = {
  description: string
  amountMinor: number
  discountMinor: number
  quantity: number
  priceId: string
  productId: string
}
/** What a new invoice is created from. */
export type InvoiceTerms = {
  subscription: Stripe.Subscription
  lines: readonly InvoiceLine[]
  reason: 'subscription_create' | 'subscription_cycle'
  customerEmail: string | null
  /** Epoch seconds. */
  period: Period
}

/** Fields of an invoice that the sandbox never changes. */
const unused = {
  account_country: 'DE',
  account_name: 'Sandbox',
  account_tax_ids: null,
  amount_overpaid: 0,
  amount_shipping: 0,
  application: null,
  auto_advance: true,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
  automatically_finalizes_at: null,
  collection_method: 'charge_automatically',
  custom_fields: null,
  customer_account: null,
  customer_address: null,
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
  ending_balance: 0,
  footer: null,
  from_invoice: null,
  hosted_invoice_url: null,
  invoice_pdf: null,
  issuer: { type: 'self' },
  last_finalization_error: null,
  latest_revision: null,
  livemode: false,
  metadata: {},
  next_payment_attempt: null,
  on_behalf_of: null,
  payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  starting_balance: 0,
  statement_descriptor: null,
  test_clock: null,
  total_discount_amounts: [],
  total_pretax_credit_amounts: [],
  total_taxes: []
} satisfies Partial<Stripe.Invoice>

/** An open invoice for one period of a subscription. The caller stores it. */
export function newInvoice(context: Context, terms: InvoiceTerms): Stripe.Invoice {
  const id = newId('in')
  const { subscription, period } = terms
  const subtotal = terms.lines.reduce((sum, line) => sum + line.amountMinor, 0)
  const total = terms.lines.reduce((sum, line) => sum + line.amountMinor - line.discountMinor, 0)
  const lines = terms.lines.map((line) => invoiceLine(line, id, subscription, period))
  return {
    ...unused,
    id,
    object: 'invoice',
    amount_due: total,
    amount_paid: 0,
    amount_remaining: total,
    attempt_count: 0,
    attempted: false,
    billing_reason: terms.reason,
    created: context.now,
    currency: subscription.currency,
    customer: idOf(subscription.customer),
    customer_email: terms.customerEmail,
    effective_at: context.now,
    lines: listAnswer(lines, `/v1/invoices/${id}/lines`),
    number: `SANDBOX-${id.slice(-8).toUpperCase()}`,
    parent: {
      quote_details: null,
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      type: 'subscription_details'
    },
    period_end: period.end,
    period_start: period.start,
    status: 'open',
    status_transitions: { finalized_at: context.now, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal,
    subtotal_excluding_tax: subtotal,
    total,
    total_excluding_tax: total,
    webhooks_delivered_at: context.now
  }
}

function invoiceLine(
  line: InvoiceLine,
  invoice: string,
  subscription: Stripe.Subscription,
  period: Period
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
    invoice,
    livemode: false,
    metadata: {},
    parent: item ? itemParent(subscription.id, item.id) : null,
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

function itemParent(subscription: string, subscriptionItem: string): Stripe.InvoiceLineItem.Parent {
  return {
    invoice_item_details: null,
    subscription_item_details: {
      invoice_item: null,
      proration: false,
      proration_details: null,
      subscription,
      subscription_item: subscriptionItem
    },
    type: 'subscription_item_details'
  }
}
