import type Stripe from 'stripe'
import { endAt, update } from './billing.ts'
import { getStored, route, save } from './context.ts'
import type { Context, Route } from './context.ts'
import { emit } from './events.ts'
import { newId } from './ids.ts'
import { required, text, url } from './params.ts'
import type { Values } from './params.ts'
import { useMethod } from './payment-methods.ts'

/** A session that was not opened expires after five minutes, an opened one after an hour without use. */
const unusedSeconds = 5 * 60
const usedSeconds = 60 * 60

const sessionShape = {
  configuration: text({ max: 255 }),
  customer: required(text({ max: 255 })),
  locale: text({ max: 10 }),
  return_url: url()
}

/** A customer's visit to the portal, where the customer manages cards and subscriptions. */
function createSession(context: Context, params: Values<typeof sessionShape>): Stripe.BillingPortal.Session {
  const customer = getStored(context, 'customer', params.customer, 'customer').object
  const id = newId('bps')
  const session = {
    id,
    object: 'billing_portal.session',
    configuration: params.configuration ?? 'bpc_sandbox',
    created: context.now,
    customer: customer.id,
    customer_account: null,
    flow: null,
    livemode: false,
    locale: params.locale ?? null,
    on_behalf_of: null,
    return_url: params.return_url ?? null,
    url: `${context.publicUrl}/sandbox/portal/${id}`
  } satisfies Stripe.BillingPortal.Session
  return save(context, 'billing_portal.session', session, { usedAt: null })
}

/** Opens the portal for one more request of its visitor; undefined when the session has expired. */
export function usePortal(context: Context, id: string): Stripe.BillingPortal.Session | undefined {
  const stored = context.store.find('billing_portal.session', id)
  if (stored === undefined) return undefined
  const { object, hidden } = stored
  const expiresAt = hidden.usedAt === null ? object.created + unusedSeconds : hidden.usedAt + usedSeconds
  if (expiresAt <= context.now) return undefined
  return save(context, 'billing_portal.session', object, { usedAt: context.now })
}

/** The customer's subscriptions that have not ended, newest first. */
export function currentSubscriptions(context: Context, customer: string): Stripe.Subscription[] {
  const filters = [{ field: 'customer', value: customer }]
  const { objects } = context.store.list('subscription', filters)
  return objects.filter(({ status }) => status === 'active' || status === 'past_due')
}

/**
 * Ends a subscription with its period, as the portal does, or reverses that. With flexible billing the portal sets
 * `cancel_at` and leaves `cancel_at_period_end` false.
 */
export function setEnding(context: Context, subscription: Stripe.Subscription, ends: boolean): void {
  const end = subscription.items.data[0]?.current_period_end ?? null
  update(context, subscription, endAt(context, ends ? end : null))
}

/** Makes a card the customer's card, which pays all later invoices. */
export function setCard(context: Context, customerId: string, paymentMethod: string): void {
  const { object: customer } = getStored(context, 'customer', customerId)
  const { object: method } = useMethod(context, paymentMethod)
  const settings = { ...customer.invoice_settings, default_payment_method: method.id }
  emit(context, 'customer.updated', save(context, 'customer', { ...customer, invoice_settings: settings }))
  for (const subscription of currentSubscriptions(context, customerId))
    update(context, subscription, { default_payment_method: method.id })
}

export const billingPortalRoutes: readonly Route[] = [
  route('billing_portal.sessions.create', 'POST /v1/billing_portal/sessions', sessionShape, createSession)
]
