import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestExamples } from '../../src/api/description/examples.ts'
import { asSchema } from '../../src/api/description/fields.ts'
import type { Route } from '../../src/api/route.ts'
import { routes } from '../../src/api/routes.ts'
import { write } from '../../src/platform/db/database.ts'
import { createProxy } from '../../src/proxy/proxy.ts'
import { createEmailToken, deriveEmailToken } from '../../src/shop/accounts/email-tokens.ts'
import type { EmailTokenKind } from '../../src/shop/accounts/email-tokens.ts'
import { decideAffiliate } from '../../src/shop/affiliates/decide.ts'
import { deactivateUser } from '../../src/shop/accounts/deactivate.ts'
import { switchModule } from '../../src/shop/settings/settings.ts'
import { benefitCatalog } from '../journeys/catalog.ts'
import { pay, withLoopback } from '../journeys/shop.ts'
import { quay } from '../support/addresses.ts'
import { Browser } from '../support/browser.ts'
import type { Answer } from '../support/browser.ts'
import { apiDocument, undescribed } from '../support/described.ts'
import { filledPath } from '../support/filled-path.ts'
import { mailboxCode } from '../../src/shop/accounts/mailbox-code.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { rawRequest } from '../support/raw-http.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { fakeStripe, set, stripeError } from './checkout-support.ts'

/**
 * Every operation of the API description is asked for each of its answers: each success, 304, and each error code with
 * each of its statuses. The visitor compares status, headers and body of every answer with the description, so an answer
 * that is not described fails. The last test fails for a description without an answer.
 */

/** What the description promises, such as `POST /auth/login 401 AUTH_INVALID_CREDENTIALS` or `GET /me 200`. */
const documented = Object.entries(asSchema(apiDocument()['paths'])).flatMap(([path, item]) =>
  Object.entries(asSchema(item)).flatMap(([method, operation]) =>
    Object.entries(asSchema(asSchema(operation)['responses'])).flatMap(([status, response]) => {
      const media = asSchema(asSchema(asSchema(response)['content'])['application/json'])
      const codes = Object.keys(asSchema(media['examples']))
      const answer = `${method.toUpperCase()} ${path} ${status}`
      return codes.length === 0 ? [answer] : codes.map((code) => `${answer} ${code}`)
    })
  )
)

/** What no request of a test can cause, with the reason. */
const unreachable: Record<string, string> = {
  'GET /health 500 INTERNAL_SERVER_ERROR':
    'All that its handler can fail at is the database, which has a code of its own.',
  'POST /webhooks/stripe 503 DEPENDENCY_UNAVAILABLE':
    'Only while unfinished bodies take 64 MB of memory; test/api/body-memory.test.ts fills it.'
}

const seen = new Set<string>()

type Sent = { path?: string; query?: string; body?: unknown; headers?: Record<string, string> }

/** Sends a request to an operation and notes its answer. */
async function ask(who: Browser, operation: string, { path, query = '', body, headers }: Sent = {}): Promise<Answer> {
  const [method = '', template = ''] = operation.split(' ')
  const answer = await who.send<Record<string, unknown>>(
    method,
    `${path ?? filledPath(template)}${query}`,
    body,
    headers
  )
  note(operation, answer.status, answer)
  return answer
}

/** Sends a request that fetch refuses to send, such as a GET with a body. */
async function askRaw(who: Browser, operation: string, headers: readonly string[], body = ''): Promise<void> {
  const [method = '', template = ''] = operation.split(' ')
  const cookie = [...who.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const url = `${shop.apiRoot}${filledPath(template)}`
  const all = ['Stripe-Signature: t=1,v1=00', ...(cookie === '' ? [] : [`Cookie: ${cookie}`]), ...headers]
  const answer = await rawRequest(url, method, new URL(url).pathname, all, body)
  const json = JSON.parse(answer.body) as Partial<Answer>
  const sent = { status: answer.status, headers: new Headers([...answer.headers]), body: json }
  expect(undescribed(method, filledPath(template), sent)).toEqual([])
  note(operation, answer.status, json)
}

function note(operation: string, status: number, { error }: Partial<Answer>): void {
  seen.add([operation, status, ...(error === undefined ? [] : [error.code])].join(' '))
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`
const paths = routes.map((route) => [nameOf(route), route] as const)

const catalog = {
  ...benefitCatalog,
  products: [...benefitCatalog.products, { slug: 'scarce', name: 'Scarce', price: '5.00', stock: 1 }],
  coupons: [{ code: 'TEN', percent: 10 }]
}

let shop: RunningShop
let lena: Browser
beforeAll(async () => {
  shop = await startShop({ seed: catalog })
  lena = await member('lena')
})
afterAll(() => shop.stop())

/** Someone who is logged in. */
async function member(name: string, at = shop, verified = true): Promise<Browser> {
  await makeUser(at.app, { email: `${name}@shop.example`, verified })
  const visitor = at.visitor()
  await visitor.post('/auth/login', { email: `${name}@shop.example`, password: goodPassword })
  return visitor
}

function productId(slug: string): number {
  return Number(shop.app.db.sqlite.prepare('SELECT id FROM products WHERE slug = ?').pluck().get(slug))
}

const checkout = 'POST /store/checkout-session'
const handoff = { strategy: 'token_handoff', returnUrl: 'https://front.example/done', paymentToken: 'pm_card_visa' }
const cartOf = (slug: string) => ({ items: [{ productId: productId(slug), quantity: 1 }], shippingAddress: quay })

/** Asks with a limit of one request and none left. */
async function past(bucket: string, work: () => Promise<unknown>): Promise<void> {
  set(shop, { [`limits.${bucket}`]: '1/3600' })
  await work()
  await work()
  await work()
  set(shop, { [`limits.${bucket}`]: 'off' })
}

/** A token of an email to a user. */
function tokenFor(email: string, kind: EmailTokenKind, newEmail: string | null = null): string {
  const { db, keys, clock } = shop.app
  const userId = Number(db.sqlite.prepare('SELECT id FROM users WHERE email = ?').pluck().get(email))
  const row = write(db, (tx) => createEmailToken(tx, keys, { kind, userId, newEmail }, clock.now()))
  return deriveEmailToken(keys, row)
}

describe('each operation', () => {
  it.each(paths)('refuses what every operation refuses: %s', async (operation, route) => {
    const user = route.session === 'required' ? lena : shop.visitor()
    if (route.session === 'required') await ask(shop.visitor(), operation)
    const csrf = route.method === 'GET' ? { 'x-shopstead-proxy': '1' } : { 'sec-fetch-site': 'cross-site' }
    await ask(user, operation, { headers: csrf })
    await askRaw(user, operation, [], 'x'.repeat(300_000))
    await askRaw(user, operation, ['Host: second.example'])
    const nonce = { 'x-nonce': await user.nonce() }
    await ask(user, operation, { query: '?%ff', headers: { ...nonce, 'stripe-signature': 't=1,v1=00' } })
    if (route.method === 'GET') await ask(user, operation)
    if (route.body !== undefined)
      await ask(user, operation, { body: '{}', headers: { ...nonce, 'content-type': 'text/plain' } })
  })

  it.each(paths.filter(([, { proxy }]) => proxy !== null))(
    'is 503 when its service is gone: %s',
    async (operation, route) => {
      const proxy = createProxy({ upstream: 'http://127.0.0.1:1' })
      const { method } = route
      const headers = { 'x-nonce': 'any', host: 'site.example' }
      const path = filledPath(route.path)
      const response = await proxy(new Request(`https://site.example/api/secure${path}`, { method, headers }))
      const json = (await response.json()) as Partial<Answer>
      expect(undescribed(method, path, { status: response.status, headers: response.headers, body: json })).toEqual([])
      note(operation, response.status, json)
    }
  )

  it.each(paths.filter(([, { proxy }]) => proxy !== null))(
    'names the query that the proxy drops: %s',
    async (operation, route) => {
      const proxied = new Browser(`${shop.url}/api/secure`)
      if (route.session === 'required') for (const cookie of lena.cookies) proxied.cookies.set(...cookie)
      const { headers } = await ask(proxied, operation, {
        query: '?dropped=1',
        headers: { 'x-nonce': await proxied.nonce() }
      })
      expect(headers.get('x-dropped-query')).toBe('dropped')
    }
  )

  it('is 500 when the database is gone', async () => {
    const broken = await startShop({ seed: catalog })
    const user = await member('lena', broken)
    const nonce = { 'x-nonce': await user.nonce(), 'stripe-signature': 't=1,v1=00' }
    broken.app.db.sqlite.close()
    const queries: Record<string, string> = { 'GET /store/redirects': '?path=/old-mug' }
    for (const [operation] of paths) {
      const query = queries[operation] ?? ''
      await ask(user, operation, { query, headers: nonce, body: requestExamples[operation] })
    }
    await broken.stop()
  })
})

describe('accounts', () => {
  const fields = { email: 'new@shop.example', password: 'tidal-basalt-93', displayName: 'New', acceptTerms: true }
  const registerWith = async (changes: object, at = shop) => {
    const who = at.visitor()
    return ask(who, 'POST /auth/register', {
      body: { ...fields, ...changes },
      headers: { 'x-nonce': await who.nonce() }
    })
  }

  it('register', async () => {
    await registerWith({})
    await registerWith({})
    await registerWith({ password: 'password' })
    const who = shop.visitor()
    await askRaw(who, 'POST /auth/register', [`X-Nonce: ${await who.nonce()}`], 'x'.repeat(300_000))
    await past('register_ip', () => registerWith({}))
    set(shop, { 'registration.enabled': 'false' })
    await registerWith({})
    set(shop, { 'registration.enabled': 'true', 'registration.emailVerification': 'true' })
    await registerWith({ email: 'waiting@shop.example' })
    await login('waiting@shop.example', 'tidal-basalt-93')
    set(shop, { 'registration.emailVerification': 'false' })
  })

  const login = (email: string, password = goodPassword) =>
    ask(shop.visitor(), 'POST /auth/login', { body: { email, password } })

  it('login, logout and the profile', async () => {
    const { id } = await makeUser(shop.app, { email: 'gone@shop.example', verified: true })
    await login('gone@shop.example')
    await login('gone@shop.example', 'wrong-password-1')
    await past('login_ip', () => login('gone@shop.example', 'wrong-password-1'))
    deactivateUser(shop.app.db, id, shop.app.clock.now())
    await login('gone@shop.example')
    await ask(await member('out'), 'POST /auth/logout')
    for (const operation of [
      'GET /me',
      'GET /orders',
      'GET /me/downloads',
      'GET /me/email-change',
      'GET /me/address',
      'GET /me/subscriptions'
    ])
      await ask(lena, operation)
    await ask(lena, 'GET /me/prices', { query: '?products=1' })
    await ask(lena, 'PATCH /me', { body: { firstName: 'Lena' } })
    await ask(lena, 'POST /me/address', { body: { address: null } })
    await past('account_change', () => ask(lena, 'PATCH /me', { body: { firstName: 'Lena' } }))
    await past('account_change', () => ask(lena, 'POST /me/address', { body: { address: null } }))
  })

  it.each([
    ['POST /auth/verify-email', 'verify', null],
    ['POST /auth/reset-password', 'reset', null],
    ['POST /auth/confirm-email', 'email', 'next@shop.example'],
    ['POST /auth/undo-email-change', 'undo', 'former@shop.example']
  ] as const)('a link of an email: %s', async (operation, kind, newEmail) => {
    const email = `${kind}@shop.example`
    await makeUser(shop.app, { email })
    const link = (token: string, password: string) => ask(shop.visitor(), operation, { body: { token, password } })
    const token = tokenFor(email, kind, newEmail)
    await link('unknown', goodPassword)
    await link(token, kind === 'email' ? 'wrong-password-1' : 'password')
    await link(token, kind === 'email' ? goodPassword : 'granite-ferry-27')
    await past('token_ip', () => link('unknown', goodPassword))
  })

  it.each(['POST /auth/resend-verification', 'POST /auth/forgot-password'])('%s', async (operation) => {
    const body = { email: 'someone@shop.example' }
    await ask(shop.visitor(), operation, { body })
    await past('recovery_ip', () => ask(shop.visitor(), operation, { body }))
  })

  it('the proof of an email', async () => {
    const operation = 'POST /store/prove-email'
    const email = 'proven@shop.example'
    const enter = (code: string) => ask(shop.visitor(), operation, { body: { email, code } })
    await ask(shop.visitor(), operation, { body: { email } })
    await enter(mailboxCode(shop.app.keys, email, shop.app.clock.now()))
    await enter('00000000')
    await past('recovery_ip', () => ask(shop.visitor(), operation, { body: { email } }))
    await past('token_ip', () => enter('00000000'))
  })

  it('changes of password and email', async () => {
    const user = await member('changing')
    const wrong = 'wrong-password-1'
    const password = (currentPassword: string, newPassword: string) =>
      ask(user, 'POST /auth/change-password', { body: { currentPassword, newPassword } })
    await password(wrong, 'granite-ferry-27')
    await password(goodPassword, 'password')
    await password(goodPassword, 'granite-ferry-27')
    await past('account_change', () => password(wrong, 'granite-ferry-27'))
    const email = (sent: string) =>
      ask(user, 'POST /auth/change-email', { body: { email: 'changed@shop.example', password: sent } })
    await ask(user, 'POST /me/email-change/resend')
    await email(wrong)
    await email('granite-ferry-27')
    await past('account_change', () => email(wrong))
    await ask(user, 'POST /me/email-change/resend')
    await past('account_change', () => ask(user, 'POST /me/email-change/resend'))
    await ask(user, 'POST /me/email-change/withdraw')
    await past('account_change', () => ask(user, 'POST /me/email-change/withdraw'))
  })

  it('the erasure', async () => {
    const erase = (who: Browser, password = goodPassword) => ask(who, 'POST /me/delete', { body: { password } })
    await erase(await member('unverified', shop, false))
    const user = await member('erased')
    await erase(user, 'wrong-password-1')
    await past('account_change', () => erase(user, 'wrong-password-1'))
    const { data } = await ask(user, checkout, { body: cartOf('mug') })
    await erase(user)
    await ask(user, cancel, { path: `/store/orders/${String(data['orderToken'])}/cancel` })
    await erase(user)
  })
})

const cancel = 'POST /store/orders/{orderToken}/cancel'

describe('the store', () => {
  it('pages of the catalog', async () => {
    for (const operation of [
      'GET /store/offers',
      'GET /store/products',
      'GET /store/products/{slug}',
      'GET /store/categories',
      'GET /store/payment-config'
    ]) {
      const path = operation.slice('GET '.length).replace('{slug}', 'mug')
      const { headers } = await ask(shop.visitor(), operation, { path })
      await ask(shop.visitor(), operation, { path, headers: { 'if-none-match': headers.get('etag') ?? '' } })
    }
    for (const query of ['', '?path=/old-mug'])
      await ask(shop.visitor(), 'GET /store/redirects', { path: '/store/redirects', query })
  })

  it('a quote', async () => {
    const quote = (who = shop.visitor()) =>
      ask(who, 'POST /store/quote', { body: { items: cartOf('mug').items, couponCode: 'TEN' } })
    await quote()
    await past('checkout_ip', () => quote())
    await withoutGuests(() => quote())
    await closed(() => quote())
  })

  it('a checkout', async () => {
    const buy = (changes: object = {}, headers: Record<string, string> = {}) =>
      ask(shop.visitor(), checkout, { body: { ...cartOf('mug'), ...changes }, headers })
    await buy()
    await buy({ ...handoff, paymentToken: 'pm_card_chargeDeclined' })
    await past('checkout_ip', () => buy())
    await withoutGuests(() => buy())
    await closed(() => buy())
    const buyer = shop.visitor()
    for (const slug of ['mug', 'song'])
      await ask(buyer, checkout, { body: cartOf(slug), headers: { 'idempotency-key': 'walk' } })
  })

  it.each([
    ['only manual payment', () => Promise.resolve({ SHOPSTEAD_PAYMENTS: 'manual' })],
    ['Stripe without its key', () => Promise.resolve({ SHOPSTEAD_PAYMENTS: 'stripe' })],
    [
      'a gateway that refuses',
      () => fakeStripe((_req, res) => stripeError(res, 400, { type: 'invalid_request_error', message: 'No' }))
    ],
    ['a gateway that says nothing', () => fakeStripe((_req, res) => res.destroy())]
  ] as const)('a checkout with %s', async (_what, env) => {
    const other = await startShop({ seed: catalog, env: await env() })
    const body = { ...cartOf('mug'), ...handoff }
    await ask(other.visitor(), checkout, { body })
    await deliver(other)
    await other.stop()
  })

  it("a guest's order", async () => {
    const path = async (slug: string) => {
      const guest = shop.visitor()
      const body = { ...cartOf(slug), customer: { email: 'guest@shop.example' } }
      const { data } = await ask(guest, checkout, { body })
      if (slug === 'almanac') await pay(guest, { orderId: 0, url: withLoopback(String(data['checkoutUrl'])) })
      return `/store/orders/${String(data['orderToken'])}`
    }
    const pending = await path('mug')
    const paid = await path('almanac')
    await shop.app.sandbox?.deliverDue()
    await ask(shop.visitor(), 'GET /store/orders/{orderToken}', { path: pending })
    const end = 'POST /store/orders/{orderToken}/end-subscription'
    for (const [operation, ending, good, bad, slug, bucket] of [
      [cancel, '/cancel', pending, paid, 'mug', 'checkout_ip'],
      [end, '/end-subscription', paid, pending, 'almanac', 'recovery_ip']
    ] as const) {
      await ask(shop.visitor(), operation, { path: `${bad}${ending}` })
      await ask(shop.visitor(), operation, { path: `/store/orders/unknown${ending}` })
      await ask(shop.visitor(), operation, { path: `${good}${ending}` })
      const others = [await path(slug), await path(slug)]
      await shop.app.sandbox?.deliverDue()
      set(shop, { [`limits.${bucket}`]: '1/3600' })
      for (const order of others) await ask(shop.visitor(), operation, { path: `${order}${ending}` })
      set(shop, { [`limits.${bucket}`]: 'off' })
    }
  })

  it("a customer's order and subscription", async () => {
    const user = await member('subscriber')
    const { data } = await ask(user, checkout, { body: cartOf('almanac') })
    await pay(user, { orderId: 0, url: withLoopback(String(data['checkoutUrl'])) })
    await shop.app.sandbox?.deliverDue()
    await ask(user, 'GET /orders/{id}', { path: `/orders/${String(data['orderId'])}` })
    await ask(user, 'GET /orders/{id}', { path: '/orders/999999' })
    const own = await ask(user, 'GET /me/subscriptions')
    const [{ id = 0 } = {}] = own.data['subscriptions'] as { id?: number }[]
    for (const [ending, bucket] of [
      ['portal', 'portal_account'],
      ['cancel', 'account_change']
    ] as const) {
      const operation = `POST /me/subscriptions/{id}/${ending}`
      await ask(user, operation, { path: `/me/subscriptions/999999/${ending}` })
      await past(bucket, () => ask(user, operation, { path: `/me/subscriptions/${id}/${ending}` }))
    }
  })

  it('a webhook, and the status of the service', async () => {
    await deliver(shop)
    const refused = await shop.visitor().post('/health')
    expect(refused.headers.get('allow')).toBe('GET, HEAD')
    note('GET /health', refused.status, refused)
  })
})

/** Delivers an event about a payment that does not exist. */
async function deliver(to: RunningShop): Promise<void> {
  const at = Math.floor(to.app.clock.now() / 1000)
  const object = { id: 'pi_none', object: 'payment_intent' }
  const event = { id: `evt_${at}`, object: 'event', type: 'payment_intent.succeeded', livemode: false, created: at }
  const body = JSON.stringify({ ...event, data: { object } })
  const proof = createHmac('sha256', to.app.cards?.webhookSecret ?? '')
    .update(`${at}.${body}`)
    .digest('hex')
  await ask(to.visitor(), 'POST /webhooks/stripe', { body, headers: { 'stripe-signature': `t=${at},v1=${proof}` } })
}

async function withoutGuests(work: () => Promise<unknown>): Promise<void> {
  set(shop, { 'checkout.guest': 'false' })
  await work()
  set(shop, { 'checkout.guest': 'true' })
}

async function closed(work: () => Promise<unknown>): Promise<void> {
  set(shop, { 'checkout.enabled': 'false' })
  await work()
  set(shop, { 'checkout.enabled': 'true' })
}

it('affiliates', async () => {
  const mira = await member('mira')
  const lists = [
    'GET /affiliates/referrals',
    'GET /affiliates/link',
    'GET /affiliates/stats',
    'GET /affiliates/payouts',
    'GET /affiliates/me'
  ]
  const readAll = async () => {
    for (const operation of lists) await ask(mira, operation)
  }
  const apply = () => ask(mira, 'POST /affiliates/apply', { body: {} })
  const accept = () => ask(mira, 'POST /affiliates/terms', { body: { version: '2026-02-28' } })
  await readAll()
  await accept()
  switchModule(shop.app.db, 'affiliates', false, shop.app.clock.now())
  await apply()
  switchModule(shop.app.db, 'affiliates', true, shop.app.clock.now())
  await apply()
  await apply()
  await readAll()
  decideAffiliate(shop.app.db, 'mira', 'approve', shop.app.clock.now())
  set(shop, { 'affiliates.termsGating': 'true', 'affiliates.termsVersion': 'soon' })
  await readAll()
  await accept()
  set(shop, { 'affiliates.termsVersion': '2026-02-28' })
  await readAll()
  await accept()
  await readAll()
  await past('account_change', apply)
  await past('account_change', accept)
  await ask(shop.visitor(), 'POST /affiliates/clicks', { body: { ref: 'mira' } })
})

it('would find an answer that the description does not allow', async () => {
  const { status, headers, text } = await shop.visitor().get('/nonce')
  const differs = (change: (sent: Headers) => void): string[] => {
    const sent = new Headers(headers)
    change(sent)
    return undescribed('GET', '/nonce', { status, headers: sent, body: JSON.parse(text) })
  }
  expect(differs(() => undefined)).toEqual([])
  expect(differs((sent) => sent.set('x-powered-by', 'h3'))).toEqual([
    expect.stringMatching('not described: x-powered-by')
  ])
  expect(differs((sent) => sent.delete('x-request-id'))).toEqual([
    expect.stringMatching('lacks the header X-Request-Id')
  ])
  expect(differs((sent) => sent.set('content-type', 'text/plain'))).toEqual([expect.stringMatching('is text/plain')])
})

it('has no answer that nothing can cause, except those with a reason', () => {
  const missing = documented.filter((answer) => !seen.has(answer) && unreachable[answer] === undefined)
  expect(missing).toEqual([])
  expect(Object.keys(unreachable).filter((answer) => seen.has(answer) || !documented.includes(answer))).toEqual([])
})
