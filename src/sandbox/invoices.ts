import type Stripe from 'stripe'
import { getStored, route, save } from './context.ts'
import type { Context, Route } from './context.ts'
import { emit } from './events.ts'
import { newId } from './ids.ts'
import { newInvoice } from './invoice-object.ts'
import type { InvoiceTerms } from './invoice-object.ts'
import { filtersOf, listPage, pageShape } from './lists.ts'
import { choice, shape, text } from './params.ts'

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
