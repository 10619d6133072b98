import type Stripe from 'stripe'
import type { Store } from '../store/object-store.ts'

/** The API version from which an invoice names its subscription under `parent` (docs.stripe.com/changelog/basil). */
const basil = '2025-03-31'

/**
 * An event as Stripe renders it at an API version: webhooks at the endpoint's version, `GET /v1/events` at the version
 * that the account had when the event occurred (docs.stripe.com/api/events). Objects keep their newest shape in the
 * store; older versions get the shape that they had before 2025-03-31.
 */
export function renderEvent(store: Store, event: Stripe.Event, version: string): Stripe.Event {
  const { object } = event.data
  const rendered = version < basil ? olderShape(store, object) : object
  return { ...event, api_version: version, data: { ...event.data, object: rendered } } as Stripe.Event
}

function olderShape(store: Store, object: object): object {
  const kind = (object as { object?: unknown }).object
  if (kind === 'invoice') return olderInvoice(store, object as Stripe.Invoice)
  if (kind === 'subscription') return olderSubscription(object as Stripe.Subscription)
  return object
}

function olderInvoice(store: Store, invoice: Stripe.Invoice): object {
  const { parent, payments: _payments, ...rest } = invoice
  const { objects } = store.list('invoice_payment', [{ field: 'invoice', value: invoice.id }])
  return {
    ...rest,
    paid: invoice.status === 'paid',
    payment_intent: objects[0]?.payment.payment_intent ?? null,
    subscription: parent?.subscription_details?.subscription ?? null,
    subscription_details: { metadata: parent?.subscription_details?.metadata ?? null }
  }
}

function olderSubscription(subscription: Stripe.Subscription): object {
  const [first] = subscription.items.data
  return {
    ...subscription,
    current_period_start: first?.current_period_start,
    current_period_end: first?.current_period_end,
    items: {
      ...subscription.items,
      data: subscription.items.data.map(({ current_period_start: _start, current_period_end: _end, ...item }) => item)
    }
  }
}
