import type Stripe from 'stripe'
import { formatMoney } from '../platform/money.ts'
import { offeredCards } from './test-cards.ts'

/** The page that pays or cancels an open session; `message` says why the last attempt failed. */
export function checkoutPage(view: {
  session: Stripe.Checkout.Session
  lineItems: readonly Stripe.LineItem[]
  message: string | undefined
}): string {
  const { session, lineItems, message } = view
  const path = `/sandbox/checkout/${escape(session.id)}`
  const email = session.customer_details?.email
  return document(
    'Pay your order',
    `<p class="note">Test mode: no money moves.</p>
${message === undefined ? '' : `<p class="alert" role="alert">${escape(message)}</p>`}
${summary(session, lineItems)}
<form method="post" action="${path}">
${email ? `<p>Receipt to <strong>${escape(email)}</strong></p>` : emailField}
${cardFieldset('Payment method')}
<button type="submit">Pay ${money(session.amount_total ?? 0, session.currency)}</button>
</form>
<form method="post" action="${path}/cancel"><button type="submit" class="plain">Cancel and return</button></form>`
  )
}

/** The bank's page, which approves or refuses a payment (3-D Secure). */
export function bankPage(intent: Stripe.PaymentIntent): string {
  const button = (value: string, label: string, look: string): string =>
    `<button type="submit" name="outcome" value="${value}"${look}>${label}</button>`
  return document(
    'Confirm your payment',
    `<p class="note">This page simulates your bank. Test mode: no money moves.</p>
<p>The shop requests a payment of <strong>${money(intent.amount, intent.currency)}</strong>.</p>
<form method="post" action="/sandbox/3ds/${escape(intent.id)}">
${button('approve', 'Approve', '')}
${button('fail', 'Refuse', ' class="plain"')}
</form>`
  )
}

/** A page with one paragraph, and a link back to the shop unless `backUrl` is null. */
export function messagePage(title: string, text: string, backUrl: string | null = null): string {
  const back = backUrl === null ? '' : `\n<p><a href="${escape(backUrl)}">Back to the shop</a></p>`
  return document(title, `<p>${escape(text)}</p>${back}`)
}

const emailField = `<p><label for="email">Email for the receipt</label>
<input id="email" name="email" type="email" autocomplete="email" required></p>`

/** The test cards to choose from, the first one chosen. */
export function cardFieldset(legend: string): string {
  return `<fieldset>
<legend>${legend}</legend>
${offeredCards.map(cardOption).join('\n')}
</fieldset>`
}

function cardOption([id, label]: readonly [string, string], at: number): string {
  const checked = at === 0 ? ' checked' : ''
  return `<label><input type="radio" name="payment_method" value="${id}"${checked}> ${escape(label)} <code>${id}</code></label>`
}

function summary(session: Stripe.Checkout.Session, lineItems: readonly Stripe.LineItem[]): string {
  const rows = lineItems.map(
    (item) =>
      `<tr><td>${escape(item.description ?? '')}${intervalLabel(item)}</td><td>${item.quantity ?? 1}</td><td>${money(item.amount_subtotal, session.currency)}</td></tr>`
  )
  const discount = session.total_details?.amount_discount ?? 0
  const discountRow =
    discount > 0
      ? `<tr><th scope="row" colspan="2">Discount</th><td>${money(-discount, session.currency)}</td></tr>`
      : ''
  const cost = session.shipping_cost
  const shippingRow = cost
    ? `<tr><th scope="row" colspan="2">Shipping</th><td>${money(cost.amount_total, session.currency)}</td></tr>`
    : ''
  return `<table>
<caption>Your order</caption>
<thead><tr><th scope="col">Item</th><th scope="col">Quantity</th><th scope="col">Price</th></tr></thead>
<tbody>${rows.join('')}</tbody>
<tfoot>${discountRow}${shippingRow}<tr><th scope="row" colspan="2">Total</th><td>${money(session.amount_total ?? 0, session.currency)}</td></tr></tfoot>
</table>`
}

function intervalLabel(item: Stripe.LineItem): string {
  const recurring = item.price?.recurring
  if (!recurring) return ''
  return recurring.interval_count === 1
    ? `, every ${recurring.interval}`
    : `, every ${recurring.interval_count} ${recurring.interval}s`
}

/** An amount as HTML. */
export function money(amountMinor: number, currency: string | null): string {
  return escape(formatMoney(amountMinor, (currency ?? 'eur').toUpperCase()))
}

/** A hosted page as HTML; `body` is HTML already. */
export function document(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escape(title)}</title>
<link rel="stylesheet" href="/sandbox/style.css">
</head>
<body>
<main>
<h1>${escape(title)}</h1>
${body}
</main>
</body>
</html>
`
}

/** Text as HTML. */
export function escape(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;'
  }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}
