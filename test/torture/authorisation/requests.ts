import type { Target } from './kinds.ts'
import { anyToken, beside, cookieOf, mug, ownersPassword, termsVersion } from './stage.ts'
import type { Person, Stage } from './stage.ts'

/** One cell of the matrix before it is sent. */
export type Cell = { stage: Stage; person: Person; owner: Person; target: Target }

export type Sent = {
  /** With the query, under the API's root for a route and under the origin for a place. */
  path: string
  body?: object | URLSearchParams
  /** Over the caller's own. */
  headers?: Record<string, string>
}

type Request = (cell: Cell) => Sent | Promise<Sent>

const nobody = (target: Target): string => `nobody-${target}@people.example`

function pick<T>({ target }: Cell, choice: Readonly<Record<Target, T>>): T {
  return choice[target]
}

/** Everywhere that a careless service might take somebody's name from. */
function named(cell: Cell): { query: string; headers: Record<string, string>; body: Record<string, unknown> } {
  const { target, owner } = cell
  if (target === 'own') return { query: '', headers: {}, body: {} }
  const userId = target === 'foreign' ? (owner.id ?? 0) : 999_999
  const email = target === 'foreign' ? owner.email : nobody(target)
  const affiliateId = target === 'foreign' ? (owner.affiliateId ?? 0) : 999_999
  const names = { userId, user_id: userId, customer: userId, user: email, affiliateId }
  const parameters = Object.entries(names).map(([name, value]): [string, string] => [name, String(value)])
  return {
    query: `?${new URLSearchParams(parameters).toString()}`,
    headers: { 'x-user-id': String(userId), 'x-shopstead-user': email, 'x-forwarded-user': email },
    body: { userId, user: email, affiliateId, id: userId }
  }
}

const namedInQuery =
  (path: string): Request =>
  (cell) => ({ path: `${path}${named(cell).query}`, headers: named(cell).headers })

const namedInBody =
  (path: string, body: object): Request =>
  (cell) => ({ path, headers: named(cell).headers, body: { ...body, ...named(cell).body } })

function tokenOf(cell: Cell, kind: 'verify' | 'reset'): string {
  const { stage, person, owner } = cell
  if (cell.target === 'absent') return anyToken()
  return cell.target === 'own' ? stage.emailToken(person, kind) : stage.emailToken(owner, kind, 'used')
}

function nonceOf(cell: Cell): string {
  const { stage, person, owner } = cell
  return pick(cell, { own: stage.nonceOf(person), foreign: stage.nonceOf(owner), absent: anyToken(80) })
}

function emailOf(cell: Cell): string {
  return pick(cell, { own: cell.person.email, foreign: cell.owner.email, absent: nobody(cell.target) })
}

async function checkoutUnderKey(cell: Cell): Promise<Sent> {
  const { stage, person, owner } = cell
  const key = anyToken(20)
  const sent = { path: '/store/checkout-session', body: { items: [mug] }, headers: { 'idempotency-key': key } }
  const first = pick(cell, { own: person, foreign: owner, absent: null })
  if (first !== null) await stage.api(first, sent.path, sent.body, sent.headers)
  return sent
}

function referrals(cell: Cell): Sent {
  const { stage, person, owner } = cell
  const cursor = pick(cell, { own: stage.cursorOf(person), foreign: stage.cursorOf(owner), absent: anyToken(32) })
  return { path: `/affiliates/referrals${cursor === null ? '' : `?cursor=${cursor}`}` }
}

/** How each route is asked, by method and path; one entry a route. */
export const routeRequests: Readonly<Record<string, Request>> = {
  'GET /nonce': namedInQuery('/nonce'),
  'POST /auth/register': (cell) => ({
    path: '/auth/register',
    headers: { 'x-nonce': nonceOf(cell) },
    body: {
      email: `${anyToken(12)}@people.example`,
      password: 'tidal-basalt-93',
      displayName: 'Ada',
      acceptTerms: true
    }
  }),
  'POST /auth/login': (cell) => ({
    path: '/auth/login',
    body: { email: emailOf(cell), password: cell.person.password }
  }),
  'POST /auth/logout': namedInBody('/auth/logout', {}),
  'GET /me': namedInQuery('/me'),
  'POST /auth/verify-email': (cell) => ({ path: '/auth/verify-email', body: { token: tokenOf(cell, 'verify') } }),
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
  'PATCH /me': namedInBody('/me', { firstName: 'Changed' }),
  'GET /orders': namedInQuery('/orders'),
  'GET /store/offers': namedInQuery('/store/offers'),
  'POST /store/checkout-session': checkoutUnderKey,
  'GET /affiliates/referrals': referrals,
  'GET /affiliates/me': namedInQuery('/affiliates/me'),
  'POST /affiliates/apply': namedInBody('/affiliates/apply', {}),
  'POST /affiliates/terms': namedInBody('/affiliates/terms', { version: termsVersion }),
  'GET /me/downloads': namedInQuery('/me/downloads'),
  'GET /health': namedInQuery('/health'),
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

async function downloadLink(cell: Cell): Promise<Sent> {
  const { stage, person, owner } = cell
  const own = await stage.download(person)
  if (cell.target === 'own') return { path: `/downloads/${own}` }
  const [, ending = '', signature = ''] = own.split('.')
  const [ownersId = ''] = (await stage.download(owner)).split('.')
  return { path: `/downloads/${cell.target === 'foreign' ? ownersId : '999999'}.${ending}.${signature}` }
}

/** A token beside another's leads nowhere, as one that was made up does. */
async function orderToken(cell: Cell): Promise<string> {
  const { stage, person, owner } = cell
  if (cell.target === 'absent') return anyToken()
  const { token } = await stage.order(cell.target === 'own' ? person : owner)
  return cell.target === 'own' ? token : beside(token)
}

async function orderNumber(cell: Cell): Promise<string> {
  const { stage, person, owner } = cell
  if (cell.target === 'absent') return '99999999'
  return (await stage.order(cell.target === 'own' ? person : owner)).id
}

async function paymentPage(cell: Cell): Promise<Sent> {
  const { stage, person, owner } = cell
  if (cell.target === 'absent') return { path: `/sandbox/checkout/cs_test_${anyToken().replaceAll('-', '_')}` }
  const { token } = await stage.order(cell.target === 'own' ? person : owner)
  const path = await stage.payByCard(token)
  return { path: cell.target === 'own' ? path : `${path.slice(0, -1)}${path.endsWith('x') ? 'y' : 'x'}` }
}

function sessionCookie(cell: Cell): Sent {
  const { stage, person, owner } = cell
  const own = person.sessionToken
  const token = pick(cell, { own, foreign: stage.endedSession(owner), absent: anyToken() })
  return { path: '/api/v1/me', headers: cookieOf({ sessionToken: token }) }
}

function twoCookies(cell: Cell): Sent {
  const { person, owner } = cell
  const own = person.sessionToken ?? anyToken()
  const second = pick(cell, { own, foreign: owner.sessionToken ?? '', absent: anyToken() })
  return { path: '/api/v1/me', headers: { cookie: `shopstead_session=${own}; shopstead_session=${second}` } }
}

/** How each place beside the API is asked; what is sent by POST carries a body. */
export const placeRequests: Readonly<Record<string, Request>> = {
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
  'GET /account/verify': (cell) => ({ path: `/account/verify?token=${tokenOf(cell, 'verify')}` }),
  'POST /account/verify': (cell) => ({
    path: '/account/verify',
    body: new URLSearchParams({ token: tokenOf(cell, 'verify') })
  }),
  'GET /account/reset': (cell) => ({ path: `/account/reset?token=${tokenOf(cell, 'reset')}` }),
  'POST /account/reset': (cell) => ({
    path: '/account/reset',
    body: new URLSearchParams({ token: tokenOf(cell, 'reset'), password: 'tidal-basalt-93' })
  }),
  'GET /sandbox/checkout/{id}': paymentPage,
  'GET /sandbox/3ds/{id}': (cell) => ({ path: `/sandbox/3ds/pi_${cell.target}` }),
  'GET /': namedInQuery('/'),
  'GET /orders': namedInQuery('/orders'),
  'GET /account': namedInQuery('/account'),
  'GET /referrals': namedInQuery('/referrals'),
  'GET /thanks': namedInQuery('/thanks'),
  'GET /openapi.json': namedInQuery('/openapi.json'),
  'GET /docs': namedInQuery('/docs'),
  'GET /livez': namedInQuery('/livez'),
  'GET /readyz': namedInQuery('/readyz')
}
