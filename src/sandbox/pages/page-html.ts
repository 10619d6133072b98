import { escapeHtml } from '../../platform/text.ts'
import type Stripe from 'stripe'
import { formatMoney } from '../../platform/money.ts'
import { offeredCards } from '../payments/test-cards.ts'
import type { Context } from '../http/context.ts'
import type { Store } from '../store/object-store.ts'

/** The page that pays or cancels an open session; `message` says why the last attempt failed. */
export function checkoutPage(view: {
  session: Stripe.Checkout.Session
  lineItems: readonly Stripe.LineItem[]
  message: string | undefined
}): string {
  const { session, lineItems, message } = view
  const path = `/sandbox/checkout/${escapeHtml(session.id)}`
  const email = session.customer_details?.email
  return document(
    'Pay your order',
    `<p class="note">Test mode: no money moves.</p>
${message === undefined ? '' : `<p class="alert" role="alert">${escapeHtml(message)}</p>`}
${summary(session, lineItems)}
<form method="post" action="${path}">
${email ? `<p>Receipt to <strong>${escapeHtml(email)}</strong></p>` : emailField}
${cardFieldset('Payment method')}
${beside(session.custom_text.submit?.message)}<button type="submit">Pay ${money(session.amount_total ?? 0, session.currency)}</button>
</form>
<form method="post" action="${path}/cancel"><button type="submit" class="plain">Cancel and return</button></form>`
  )
}

/** The text of the shop beside the button, with Markdown's links. */
function beside(message: string | undefined): string {
  if (message === undefined) return ''
  const html = escapeHtml(message).replaceAll(
    /\[([^[\]]{1,100})\]\((https?:[^()]{1,500})\)/g,
    '<a href="$2" target="_blank">$1</a>'
  )
  return `<p>${html}</p>\n`
}

/** The bank's page, which approves or refuses a payment (3-D Secure). */
export function bankPage(intent: Stripe.PaymentIntent): string {
  const button = (value: string, label: string, look: string): string =>
    `<button type="submit" name="outcome" value="${value}"${look}>${label}</button>`
  return document(
    'Confirm your payment',
    `<p class="note">This page simulates your bank. Test mode: no money moves.</p>
<p>The shop requests a payment of <strong>${money(intent.amount, intent.currency)}</strong>.</p>
<form method="post" action="/sandbox/3ds/${escapeHtml(intent.id)}">
${button('approve', 'Approve', '')}
${button('fail', 'Refuse', ' class="plain"')}
</form>`
  )
}

/** A page with one paragraph, and a link back to the shop unless `backUrl` is null. */
export function messagePage(title: string, text: string, backUrl: string | null = null): string {
  const back = backUrl === null ? '' : `\n<p><a href="${escapeHtml(backUrl)}">Back to the shop</a></p>`
  return document(title, `<p>${escapeHtml(text)}</p>${back}`)
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
  return `<label><input type="radio" name="payment_method" value="${id}"${checked}> ${escapeHtml(label)} <code>${id}</code></label>`
}

function summary(session: Stripe.Checkout.Session, lineItems: readonly Stripe.LineItem[]): string {
  const rows = lineItems.map(
    (item) =>
      `<tr><td>${escapeHtml(item.description ?? '')}${intervalLabel(item)}</td><td>${item.quantity ?? 1}</td><td>${money(item.amount_subtotal, session.currency)}</td></tr>`
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
  return escapeHtml(formatMoney(amountMinor, (currency ?? 'eur').toUpperCase()))
}

/** A hosted page as HTML; `body` is HTML already. */
export function document(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/sandbox/style.css">
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`
}

/** What the hosted pages work with. */
export type PageParts = {
  store: Store
  act: <T>(work: (context: Context) => T) => { result: T; batch: string }
  /** Resolves when a transaction's webhooks were sent, so that the shop knows the result before the browser returns. */
  deliver: (batch: string) => Promise<void>
}

/** The style sheet of the hosted pages. A file of its own, so that their Content-Security-Policy forbids inline styles. */
export const pageStyle = `
:root { color-scheme: light dark; --ink: #1d2433; --paper: #fff; --soft: #f1f4f9; --line: #c3cad8; --deed: #3730a3; --bad: #a4161a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ebf2; --paper: #161a24; --soft: #212736; --line: #485066; --deed: #a5b4fc; --bad: #ff9b9e; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--soft); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 36rem; margin: 2rem auto; padding: 1.5rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; }
p { overflow-wrap: anywhere; }
h1 { margin-top: 0; font-size: 1.5rem; }
.note { padding: .5rem .75rem; background: var(--soft); border-radius: .5rem; }
.alert { padding: .5rem .75rem; border: 2px solid var(--bad); border-radius: .5rem; color: var(--bad); font-weight: 600; }
table { width: 100%; border-collapse: collapse; margin-block: 1rem; }
caption { text-align: left; font-weight: 600; }
th, td { padding: .35rem .25rem; border-bottom: 1px solid var(--line); text-align: left; overflow-wrap: anywhere; }
td:last-child, thead th:last-child { text-align: right; white-space: nowrap; }
thead th { overflow-wrap: normal; }
fieldset { margin: 1rem 0; border: 1px solid var(--line); border-radius: .5rem; }
fieldset label { display: block; padding: .2rem 0; }
code { font-size: .8rem; overflow-wrap: anywhere; }
label[for] { display: block; font-weight: 600; }
input[type='email'] { width: 100%; padding: .5rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: .35rem; }
button { width: 100%; min-height: 2.75rem; margin-top: .5rem; font: inherit; font-weight: 600; color: var(--paper); background: var(--deed); border: 1px solid var(--deed); border-radius: .5rem; cursor: pointer; }
button.plain { color: var(--deed); background: none; }
:focus-visible { outline: 3px solid var(--deed); outline-offset: 2px; }
a { color: var(--deed); }
`

export type Page = {
  status: number
  html: string
  /** The answer to a form leads to the shop's return address, and from there to a site that the sandbox does not know. */
  leadsToSite?: true
}

const maxBodyBytes = 16_384

/** The form of a request; undefined for a body that is not a form of at most 16 KiB. */
export async function readForm(request: Request): Promise<FormData | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) return undefined
  const type = request.headers.get('content-type') ?? ''
  if (type === '' || request.body === null) return new FormData()
  if (!/^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(type)) return undefined
  return request.formData().catch(() => undefined)
}

/** A field without surrounding spaces; null when it is missing or empty. */
export function field(form: FormData, name: string): string | null {
  const value = form.get(name)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

/** Sends the browser on with GET. */
export function seeOther(url: string): Response {
  return new Response(null, { status: 303, headers: { location: url, 'cache-control': 'no-store' } })
}

/** A hosted page with the headers that every hosted page has. */
export function respond({ status, html, leadsToSite }: Page): Response {
  return new Response(html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': contentSecurityPolicy(leadsToSite === true),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff'
    }
  })
}

/** Chromium also applies form-action to each redirect that follows a form. */
function contentSecurityPolicy(leadsToSite: boolean): string {
  const formAction = leadsToSite ? "'self' https: http:" : "'self'"
  return `default-src 'none'; style-src 'self'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`
}
