import type Stripe from 'stripe'
import { cardFieldset, document, escape, money } from './page-html.ts'

/** The billing portal of a customer: the subscriptions with a button to end or resume each, and the card. */
export function portalPage(
  session: Stripe.BillingPortal.Session,
  subscriptions: readonly { subscription: Stripe.Subscription; name: string }[]
): string {
  const path = `/sandbox/portal/${escape(session.id)}`
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
${back === null ? '' : `<p><a href="${escape(back)}">Return to the shop</a></p>`}`
  )
}

/** The page of an unpaid invoice; `message` says why the last attempt failed. */
export function invoicePage(invoice: Stripe.Invoice, message: string | undefined): string {
  const lines = invoice.lines.data.map(({ description }) => `<li>${escape(description ?? '')}</li>`)
  return document(
    'Pay your invoice',
    `<p class="note">Test mode: no money moves.</p>
${message === undefined ? '' : `<p class="alert" role="alert">${escape(message)}</p>`}
<ul>${lines.join('')}</ul>
<form method="post" action="/sandbox/invoice/${escape(invoice.id)}">
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
  return `<h2>${escape(name)}</h2>
<p>${cancelAt === null ? 'Renews' : 'Ends'} on ${day}${subscription.status === 'past_due' ? '. The last payment failed.' : ''}</p>
<form method="post" action="${path}">
<input type="hidden" name="subscription" value="${escape(subscription.id)}">
<button type="submit" name="action" value="${action}" class="plain">${label}</button>
</form>`
}
