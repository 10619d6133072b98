import type Stripe from 'stripe'
import { currentSubscriptions, setCard, setEnding, usePortal } from './billing-portal.ts'
import { renewSubscription } from './billing.ts'
import type { Context } from './context.ts'
import { idOf } from './ids.ts'
import { invoicePage, portalPage } from './billing-html.ts'
import { messagePage } from './page-html.ts'
import { field, readForm, respond, seeOther } from './page-response.ts'
import type { Page } from './page-response.ts'
import type { PageParts } from './page-parts.ts'
import { offeredCards } from './test-cards.ts'

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
