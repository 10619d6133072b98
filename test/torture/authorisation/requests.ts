import type { EmailTokenKind } from '../../../src/shop/accounts/email-tokens.ts'
import type { Target } from './kinds.ts'
import { randomToken, similarToken, cookieOf, mug, ownersPassword, termsVersion } from './matrix-shop.ts'
import type { Person, MatrixShop } from './matrix-shop.ts'

/** One request of the matrix before it is sent. */
export type Cell = { shop: MatrixShop; person: Person; owner: Person; target: Target }

export type RequestParts = {
  /** With the query; relative to the API's root for a route and to the origin for a page. */
  path: string
  body?: object | URLSearchParams
  /** Added to the caller's own headers; these win. */
  headers?: Record<string, string>
}

type Request = (cell: Cell) => RequestParts | Promise<RequestParts>

const unknownEmail = (target: Target): string => `unknown-${target}@people.example`

function pick<T>({ target }: Cell, choice: Readonly<Record<Target, T>>): T {
  return choice[target]
}

/** Identifiers of the target in every part of a request that a careless service might trust. */
function identifiersOf(cell: Cell): { query: string; headers: Record<string, string>; body: Record<string, unknown> } {
  const { target, owner } = cell
  if (target === 'own') return { query: '', headers: {}, body: {} }
  const userId = target === 'foreign' ? (owner.id ?? 0) : 999_999
  const email = target === 'foreign' ? owner.email : unknownEmail(target)
  const affiliateId = target === 'foreign' ? (owner.affiliateId ?? 0) : 999_999
  const names = { userId, user_id: userId, customer: userId, user: email, affiliateId }
  const parameters = Object.entries(names).map(([name, value]): [string, string] => [name, String(value)])
  return {
    query: `?${new URLSearchParams(parameters).toString()}`,
    headers: { 'x-user-id': String(userId), 'x-shopstead-user': email, 'x-forwarded-user': email },
    body: { userId, user: email, affiliateId, id: userId }
  }
}

const inQuery =
  (path: string): Request =>
  (cell) => ({ path: `${path}${identifiersOf(cell).query}`, headers: identifiersOf(cell).headers })

const inBody =
  (path: string, body: object): Request =>
  (cell) => ({ path, headers: identifiersOf(cell).headers, body: { ...body, ...identifiersOf(cell).body } })

function tokenOf(cell: Cell, kind: EmailTokenKind): string {
  const { shop, person, owner } = cell
  if (cell.target === 'absent') return randomToken()
  return cell.target === 'own' ? shop.emailToken(person, kind) : shop.emailToken(owner, kind, 'used')
}

function nonceOf(cell: Cell): string {
  const { shop, person, owner } = cell
  return pick(cell, { own: shop.nonceOf(person), foreign: shop.nonceOf(owner), absent: randomToken(80) })
}

function emailOf(cell: Cell): string {
  return pick(cell, { own: cell.person.email, foreign: cell.owner.email, absent: unknownEmail(cell.target) })
}

async function checkoutUnderKey(cell: Cell): Promise<RequestParts> {
  const { shop, person, owner } = cell
  const key = randomToken(20)
  const sent = { path: '/store/checkout-session', body: { items: [mug] }, headers: { 'idempotency-key': key } }
  const first = pick(cell, { own: person, foreign: owner, absent: null })
  if (first !== null) await shop.api(first, sent.path, sent.body, sent.headers)
  return sent
}

/** A list of the affiliate account, from the page after a cursor. */
const pageOf =
  (path: string) =>
  (cell: Cell): RequestParts => {
    const { shop, person, owner } = cell
    const cursor = pick(cell, { own: shop.cursorOf(person), foreign: shop.cursorOf(owner), absent: randomToken(32) })
    return { path: `${path}${cursor === null ? '' : `?cursor=${cursor}`}` }
  }

/** How to call each route, by method and path. */
export const routeRequests: Readonly<Record<string, Request>> = {
  'GET /nonce': inQuery('/nonce'),
  'POST /auth/register': (cell) => ({
    path: '/auth/register',
    headers: { 'x-nonce': nonceOf(cell) },
    body: {
      email: `${randomToken(12)}@people.example`,
      password: 'tidal-basalt-93',
      displayName: 'Ada',
      acceptTerms: true
    }
  }),
  'POST /auth/login': (cell) => ({
    path: '/auth/login',
    body: { email: emailOf(cell), password: cell.person.password }
  }),
  'POST /auth/logout': inBody('/auth/logout', {}),
  'GET /me': inQuery('/me'),
  'POST /auth/verify-email': (cell) => ({
    path: '/auth/verify-email',
    body: { token: tokenOf(cell, 'verify'), password: 'tidal-basalt-93' }
  }),
  'POST /auth/resend-verification': (cell) => ({ path: '/auth/resend-verification', body: { email: emailOf(cell) } }),
  'POST /auth/forgot-password': (cell) => ({ path: '/auth/forgot-password', body: { email: emailOf(cell) } }),
  'POST /auth/reset-password': (cell) => ({
    path: '/auth/reset-password',
    body: { token: tokenOf(cell, 'reset'), password: 'tidal-basalt-93' }
  }),
  'POST /auth/change-password': (cell) => ({
    path: '/auth/change-password',
    body: {
      currentPassword: pick(cell, { own: cell.person.password, foreign: ownersPassword, absent: 'walnut-ferry-58' }),
      newPassword: 'tidal-basalt-93'
    }
  }),
  'POST /auth/change-email': (cell) => ({
    path: '/auth/change-email',
    body: {
      email: `${randomToken(12)}@people.example`,
      password: pick(cell, { own: cell.person.password, foreign: ownersPassword, absent: 'walnut-ferry-58' })
    }
  }),
  'POST /auth/confirm-email': (cell) => ({
    path: '/auth/confirm-email',
    body: { token: tokenOf(cell, 'email'), password: cell.person.password }
  }),
  'POST /auth/undo-email-change': (cell) => ({
    path: '/auth/undo-email-change',
    body: { token: tokenOf(cell, 'reset'), password: 'tidal-basalt-93' }
  }),
  'POST /me/delete': (cell) => ({
    path: '/me/delete',
    body: { password: pick(cell, { own: cell.person.password, foreign: ownersPassword, absent: 'walnut-ferry-58' }) }
  }),
  'PATCH /me': inBody('/me', { firstName: 'Changed' }),
  'GET /me/email-change': inQuery('/me/email-change'),
  'POST /me/email-change/resend': inBody('/me/email-change/resend', {}),
  'POST /me/email-change/withdraw': inBody('/me/email-change/withdraw', {}),
  'GET /me/address': inQuery('/me/address'),
  'POST /me/address': inBody('/me/address', { address: null }),
  'GET /orders': inQuery('/orders'),
  'GET /orders/{id}': async (cell) => ({ path: `/orders/${await orderNumber(cell)}` }),
  'GET /me/prices': (cell) => ({
    path: `/me/prices?products=1${identifiersOf(cell).query.replace('?', '&')}`,
    headers: identifiersOf(cell).headers
  }),
  'GET /me/subscriptions': inQuery('/me/subscriptions'),
  'POST /me/subscriptions/{id}/cancel': (cell) => ({
    path: `/me/subscriptions/${subscriptionOf(cell)}/cancel`,
    body: {}
  }),
  'POST /me/subscriptions/{id}/portal': (cell) => ({
    path: `/me/subscriptions/${subscriptionOf(cell)}/portal`,
    body: {}
  }),
  'GET /store/offers': inQuery('/store/offers'),
  'GET /store/products': inQuery('/store/products'),
  'GET /store/products/{slug}': (cell) => ({ path: `/store/products/${cell.target === 'own' ? 'mug' : 'none'}` }),
  'GET /store/categories': inQuery('/store/categories'),
  'GET /store/redirects': inQuery('/store/redirects?path=/old'),
  'GET /store/payment-config': inQuery('/store/payment-config'),
  'POST /store/quote': inBody('/store/quote', { items: [mug] }),
  'POST /store/prove-email': inBody('/store/prove-email', { email: 'mira@shop.example' }),
  'POST /store/checkout-session': checkoutUnderKey,
  'GET /store/orders/{orderToken}': async (cell) => ({ path: `/store/orders/${await orderToken(cell)}` }),
  'POST /store/orders/{orderToken}/cancel': async (cell) => ({
    path: `/store/orders/${await orderToken(cell)}/cancel`,
    body: {}
  }),
  'POST /store/orders/{orderToken}/end-subscription': async (cell) => ({
    path: `/store/orders/${await orderToken(cell)}/end-subscription`,
    body: {}
  }),
  'GET /affiliates/referrals': pageOf('/affiliates/referrals'),
  'GET /affiliates/payouts': pageOf('/affiliates/payouts'),
  'GET /affiliates/me': inQuery('/affiliates/me'),
  'GET /affiliates/link': () => ({ path: '/affiliates/link' }),
  'GET /affiliates/stats': () => ({ path: '/affiliates/stats' }),
  'POST /affiliates/clicks': inBody('/affiliates/clicks', { ref: '1' }),
  'POST /affiliates/apply': inBody('/affiliates/apply', {}),
  'POST /affiliates/terms': inBody('/affiliates/terms', { version: termsVersion }),
  'GET /me/downloads': inQuery('/me/downloads'),
  'GET /health': inQuery('/health'),
  'POST /webhooks/stripe': (cell) => ({
    path: '/webhooks/stripe',
    body: { id: 'evt_1', object: 'event', type: 'checkout.session.completed' },
    headers: pick<Record<string, string>>(cell, {
      own: {},
      foreign: { 'stripe-signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` },
      absent: { 'stripe-signature': 'none' }
    })
  })
}

function subscriptionOf({ shop, person, owner, target }: Cell): number {
  if (target === 'absent') return 999_999
  return shop.subscription(target === 'own' ? person : owner)
}

async function downloadLink(cell: Cell): Promise<RequestParts> {
  const { shop, person, owner } = cell
  const own = await shop.download(person)
  if (cell.target === 'own') return { path: `/downloads/${own}` }
  const [, ending = '', signature = ''] = own.split('.')
  const [ownersId = ''] = (await shop.download(owner)).split('.')
  return { path: `/downloads/${cell.target === 'foreign' ? ownersId : '999999'}.${ending}.${signature}` }
}

/** For another person, a token that differs from theirs in one character, which must not work either. */
async function orderToken({ shop, person, owner, target }: Cell): Promise<string> {
  if (target === 'absent') return randomToken()
  const { token } = await shop.order(target === 'own' ? person : owner)
  return target === 'own' ? token : similarToken(token)
}

async function paidOrderToken({ shop, person, owner, target }: Cell): Promise<string> {
  if (target === 'absent') return randomToken()
  const order = await shop.order(target === 'own' ? person : owner)
  shop.payByHand(order)
  return target === 'own' ? order.token : similarToken(order.token)
}

async function orderNumber(cell: Cell): Promise<string> {
  const { shop, person, owner } = cell
  if (cell.target === 'absent') return '99999999'
  return (await shop.order(cell.target === 'own' ? person : owner)).id
}

/** A foreign page belongs to a new person: the owner's fourth unpaid order of another request would release the order. */
async function paymentPage(cell: Cell): Promise<RequestParts> {
  const { shop, person } = cell
  if (cell.target === 'absent') return { path: `/sandbox/checkout/cs_test_${randomToken().replaceAll('-', '_')}` }
  const { token } = await shop.order(cell.target === 'own' ? person : shop.createPerson('customer'))
  const path = await shop.payByCard(token)
  return { path: cell.target === 'own' ? path : `${path.slice(0, -1)}${path.endsWith('x') ? 'y' : 'x'}` }
}

function sessionCookie(cell: Cell): RequestParts {
  const { shop, person, owner } = cell
  const own = person.sessionToken
  const token = pick(cell, { own, foreign: shop.endedSession(owner), absent: randomToken() })
  return { path: '/api/v1/me', headers: cookieOf({ sessionToken: token }) }
}

function twoCookies(cell: Cell): RequestParts {
  const { person, owner } = cell
  const own = person.sessionToken ?? randomToken()
  const second = pick(cell, { own, foreign: owner.sessionToken ?? '', absent: randomToken() })
  return { path: '/api/v1/me', headers: { cookie: `shopstead_session=${own}; shopstead_session=${second}` } }
}

/** How to request each page; one with a body is sent by POST. */
export const pageRequests: Readonly<Record<string, Request>> = {
  'session cookie': sessionCookie,
  'two session cookies': twoCookies,
  'nonce of a read through the proxy': (cell) => ({
    path: '/api/secure/orders',
    headers: { 'x-nonce': nonceOf(cell) }
  }),
  'nonce of a write through the proxy': (cell) => ({
    path: '/api/secure/auth/logout',
    headers: { 'x-nonce': nonceOf(cell) },
    body: {}
  }),
  'GET /downloads/{token}': downloadLink,
  'GET /checkout/{token}': async (cell) => ({ path: `/checkout/${await orderToken(cell)}` }),
  'GET /checkout/{order number}': async (cell) => ({ path: `/checkout/${await orderNumber(cell)}` }),
  'POST /checkout/{token}': async (cell) => ({
    path: `/checkout/${await orderToken(cell)}`,
    body: new URLSearchParams({ payment_method: 'manual', email: 'buyer@people.example' })
  }),
  'GET /checkout/done/{token}': async (cell) => ({ path: `/checkout/done/${await orderToken(cell)}` }),
  'GET /checkout/invoice/{token}': async (cell) => ({ path: `/checkout/invoice/${await paidOrderToken(cell)}` }),
  'GET /checkout/return/{token}': async (cell) => ({ path: `/checkout/return/${await orderToken(cell)}` }),
  'GET /checkout/cancel/{token}': async (cell) => ({ path: `/checkout/cancel/${await orderToken(cell)}` }),
  'POST /checkout/cancel/{token}': async (cell) => ({
    path: `/checkout/cancel/${await orderToken(cell)}`,
    body: new URLSearchParams()
  }),
  'GET /checkout/subscription/{token}': async (cell) => ({ path: `/checkout/subscription/${await orderToken(cell)}` }),
  'POST /checkout/subscription/{token}': async (cell) => ({
    path: `/checkout/subscription/${await orderToken(cell)}`,
    body: new URLSearchParams()
  }),
  'GET /checkout/prove/{token}': async (cell) => ({ path: `/checkout/prove/${await orderToken(cell)}` }),
  'POST /checkout/prove/{token}': async (cell) => ({
    path: `/checkout/prove/${await orderToken(cell)}`,
    body: new URLSearchParams({ action: 'check', code: '12345678' })
  }),
  'GET /account/verify': (cell) => ({ path: `/account/verify?token=${tokenOf(cell, 'verify')}` }),
  'POST /account/verify': (cell) => ({
    path: '/account/verify',
    body: new URLSearchParams({ token: tokenOf(cell, 'verify'), password: 'tidal-basalt-93' })
  }),
  'GET /account/email': (cell) => ({ path: `/account/email?token=${tokenOf(cell, 'email')}` }),
  'POST /account/email': (cell) => ({
    path: '/account/email',
    body: new URLSearchParams({ token: tokenOf(cell, 'email'), password: cell.person.password })
  }),
  'GET /account/email/undo': (cell) => ({ path: `/account/email/undo?token=${tokenOf(cell, 'reset')}` }),
  'POST /account/email/undo': (cell) => ({
    path: '/account/email/undo',
    body: new URLSearchParams({ token: tokenOf(cell, 'reset'), password: 'tidal-basalt-93' })
  }),
  'GET /account/reset': (cell) => ({ path: `/account/reset?token=${tokenOf(cell, 'reset')}` }),
  'POST /account/reset': (cell) => ({
    path: '/account/reset',
    body: new URLSearchParams({ token: tokenOf(cell, 'reset'), password: 'tidal-basalt-93' })
  }),
  'GET /sandbox/checkout/{id}': paymentPage,
  'GET /sandbox/3ds/{id}': (cell) => ({ path: `/sandbox/3ds/pi_${cell.target}` }),
  'GET /': inQuery('/'),
  'GET /orders': inQuery('/orders'),
  'GET /account': inQuery('/account'),
  'GET /referrals': inQuery('/referrals'),
  'GET /thanks': inQuery('/thanks'),
  'GET /openapi.json': inQuery('/openapi.json'),
  'GET /docs': inQuery('/docs'),
  'GET /livez': inQuery('/livez'),
  'GET /readyz': inQuery('/readyz')
}
