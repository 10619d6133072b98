import type Stripe from 'stripe'
import { renewSubscription, endAt, update } from '../billing/billing.ts'
import type { Context, Route } from '../http/context.ts'
import { idOf, newId } from '../store/ids.ts'
import { escapeHtml } from '../../platform/text.ts'
import { messagePage, field, readForm, respond, seeOther, cardFieldset, document, money } from './page-html.ts'
import type { Page, PageParts } from './page-html.ts'
import { offeredCards } from '../payments/test-cards.ts'
import { getStored, route, save } from '../http/context.ts'
import { emit } from '../events/events.ts'
import { required, text, url } from '../http/params.ts'
import type { Values } from '../http/params.ts'
import { useMethod } from '../payments/payment-methods.ts'

/** Answers a request for the billing portal or for an invoice; undefined for any other path. */
export async function serveBillingPage(parts: PageParts, request: Request): Promise<Response | undefined> {
  const { pathname } = new URL(request.url)
  const [, kind, id = ''] = /^\/sandbox\/(portal|invoice)\/(\w{1,255})$/.exec(pathname) ?? []
  if (kind === undefined) return undefined
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (!isRead && request.method !== 'POST')
    return new Response(null, { status: 405, headers: { allow: 'GET, HEAD, POST' } })
  const form = isRead ? undefined : await readForm(request)
  const submit = kind === 'portal' ? changeInPortal : payInvoice
  const show = kind === 'portal' ? showPortal : showInvoice
  const changed = form && parts.act((context) => submit(context, id, form))
  if (changed !== undefined) await parts.deliver(changed.batch)
  if (changed?.result === true) return seeOther(pathname)
  return respond(parts.act((context) => show(context, id, form !== undefined)).result)
}

function showPortal(context: Context, id: string): Page {
  const session = usePortal(context, id)
  if (session === undefined) return gone('This page has expired', 'Open it again from the shop.')
  const html = portalPage(session, currentSubscriptions(context, session.customer).map(withNames(context)))
  return { status: 200, html }
}

/** Whether the form requested an action that was carried out. */
function changeInPortal(context: Context, id: string, form: FormData): boolean {
  const session = usePortal(context, id)
  if (session === undefined) return false
  const card = cardIn(form)
  if (card !== null) setCard(context, session.customer, card)
  const named = field(form, 'subscription')
  const subscription = currentSubscriptions(context, session.customer).find((one) => one.id === named)
  if (subscription !== undefined) setEnding(context, subscription, field(form, 'action') === 'cancel')
  return card !== null || subscription !== undefined
}

function showInvoice(context: Context, id: string, wasSubmitted: boolean): Page {
  const invoice = context.store.find('invoice', id)?.object
  if (invoice === undefined) return gone('Page not found', 'There is no invoice at this address.')
  if (invoice.status === 'paid') return { status: 200, html: messagePage('This invoice is paid', 'Thank you.') }
  const status = wasSubmitted ? 402 : 200
  return { status, html: invoicePage(invoice, wasSubmitted ? 'The card was declined.' : undefined) }
}

/** Whether the card paid the invoice. The card pays later invoices too, as on Stripe's page. */
function payInvoice(context: Context, id: string, form: FormData): boolean {
  const invoice = context.store.find('invoice', id)?.object
  const subscriptionId = idOf(invoice?.parent?.subscription_details?.subscription) ?? ''
  const subscription = context.store.find('subscription', subscriptionId)?.object
  const card = cardIn(form)
  if (invoice?.status !== 'open' || subscription?.status !== 'past_due' || card === null) return false
  setCard(context, idOf(subscription.customer) ?? '', card)
  return renewSubscription(context, subscription.id).status === 'active'
}

function cardIn(form: FormData): string | null {
  const named = field(form, 'payment_method')
  return offeredCards.some(([id]) => id === named) ? named : null
}

function withNames(context: Context) {
  return (subscription: Stripe.Subscription) => ({
    subscription,
    name: subscription.items.data
      .map(({ price }) => context.store.find('product', idOf(price.product) ?? '')?.object.name ?? price.id)
      .join(', ')
  })
}

function gone(title: string, text: string): Page {
  return { status: 404, html: messagePage(title, text) }
}

/** The billing portal of a customer: the subscriptions with a button to end or resume each, and the card. */
export function portalPage(
  session: Stripe.BillingPortal.Session,
  subscriptions: readonly { subscription: Stripe.Subscription; name: string }[]
): string {
  const path = `/sandbox/portal/${escapeHtml(session.id)}`
  const { return_url: back } = session
  return document(
    'Manage your subscriptions',
    `<p class="note">Test mode: no money moves.</p>
${subscriptions.map(({ subscription, name }) => subscriptionForm(path, subscription, name)).join('\n')}
${subscriptions.length === 0 ? '<p>You have no current subscriptions.</p>' : ''}
<h2>Card</h2>
<form method="post" action="${path}">
${cardFieldset('Pay with')}
<button type="submit">Use this card</button>
</form>
${back === null ? '' : `<p><a href="${escapeHtml(back)}">Return to the shop</a></p>`}`
  )
}

/** The page of an unpaid invoice; `message` says why the last attempt failed. */
export function invoicePage(invoice: Stripe.Invoice, message: string | undefined): string {
  const lines = invoice.lines.data.map(({ description }) => `<li>${escapeHtml(description ?? '')}</li>`)
  return document(
    'Pay your invoice',
    `<p class="note">Test mode: no money moves.</p>
${message === undefined ? '' : `<p class="alert" role="alert">${escapeHtml(message)}</p>`}
<ul>${lines.join('')}</ul>
<form method="post" action="/sandbox/invoice/${escapeHtml(invoice.id)}">
${cardFieldset('Pay with')}
<button type="submit">Pay ${money(invoice.amount_due, invoice.currency)}</button>
</form>`
  )
}

function subscriptionForm(path: string, subscription: Stripe.Subscription, name: string): string {
  const { cancel_at: cancelAt } = subscription
  const end = (cancelAt ?? subscription.items.data[0]?.current_period_end ?? 0) * 1000
  const day = new Date(end).toISOString().slice(0, 10)
  const [action, label] = cancelAt === null ? ['cancel', 'Cancel subscription'] : ['resume', 'Renew subscription']
  return `<h2>${escapeHtml(name)}</h2>
<p>${cancelAt === null ? 'Renews' : 'Ends'} on ${day}${subscription.status === 'past_due' ? '. The last payment failed.' : ''}</p>
<form method="post" action="${path}">
<input type="hidden" name="subscription" value="${escapeHtml(subscription.id)}">
<button type="submit" name="action" value="${action}" class="plain">${label}</button>
</form>`
}

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
