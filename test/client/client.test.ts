import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { routes } from '../../src/api/routes.ts'
import { createClient, ShopError } from '../../src/client/client.ts'
import type { Client, ClientOptions } from '../../src/client/client.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

type Sent = { url: string; init: RequestInit }
type Reaction = { status?: number; json?: unknown; text?: string; headers?: Record<string, string> }

const ok = (data: unknown): Reaction => ({ json: { data, meta: {} } })
const refusal = (status: number, code: string, details: object = {}): Reaction => ({
  status,
  json: { error: { code, message: 'No.', details }, meta: { request_id: 'r1' } }
})
const stale = refusal(403, 'CSRF_FAILED', { reason: 'invalid_nonce' })

/** Creates a client whose requests are answered by `answer`; its nonces are n1, n2 and so on. */
function scripted(
  answer: (path: string, nonce: string | null) => Reaction | Promise<Reaction>,
  options: ClientOptions = {}
): { client: Client; sent: Sent[] } {
  const sent: Sent[] = []
  let nonces = 0
  const client = createClient({
    ...options,
    fetch: async (url, init) => {
      sent.push({ url, init })
      const path = url.replace('/api/secure', '')
      if (path === '/nonce') nonces += 1
      const nonce = new Headers(init.headers).get('x-nonce')
      const reaction = path === '/nonce' ? ok({ nonce: `n${nonces}` }) : await answer(path, nonce)
      const { status = 200, json, text = JSON.stringify(json), headers = {} } = reaction
      return new Response(text, { status, headers })
    }
  })
  return { client, sent }
}

const paths = (sent: readonly Sent[]): string[] => sent.map(({ url }) => url.replace('/api/secure', ''))

async function errorOf(work: Promise<unknown>): Promise<ShopError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  if (!(error instanceof ShopError)) throw new Error('The request was not refused.')
  return error
}

describe('the nonce', () => {
  it('is fetched when it is first needed, once for all concurrent requests, and kept', async () => {
    const { client, sent } = scripted(() => ok({}))
    await client.get('/store/offers')
    await client.get('/health')
    expect(paths(sent)).toEqual(['/store/offers', '/health'])
    await Promise.all([client.get('/me'), client.get('/orders'), client.get('/me')])
    await client.get('/me')
    expect(paths(sent).filter((path) => path === '/nonce')).toHaveLength(1)
    expect(sent.slice(3).map(({ init }) => new Headers(init.headers).get('x-nonce'))).toEqual(['n1', 'n1', 'n1', 'n1'])
  })

  it('is sent to the same routes for which the proxy requires it', async () => {
    for (const { method, path, proxy } of routes) {
      if (proxy === null) continue
      const { client, sent } = scripted(() => ok({}))
      await client.request(method, path as never)
      expect([path, sent.length]).toEqual([path, proxy.nonce ? 2 : 1])
    }
  })

  it('is renewed once when it is refused, and the request is retried', async () => {
    const { client, sent } = scripted((_path, nonce) => (nonce === 'n1' ? stale : ok({ ok: true })))
    await client.post('/auth/login', { email: 'ada@example.com', password: 'x' })
    expect(paths(sent)).toEqual(['/nonce', '/auth/login', '/nonce', '/auth/login'])
    expect(sent[3]?.init.body).toBe(sent[1]?.init.body)
    await client.get('/me')
    expect(paths(sent).slice(4)).toEqual(['/me'])
  })

  it('is renewed once for all concurrent requests that were refused', async () => {
    const { client, sent } = scripted((_path, nonce) => (nonce === 'n1' ? stale : ok({})))
    await Promise.all([client.get('/me'), client.get('/orders')])
    expect(paths(sent).filter((path) => path === '/nonce')).toHaveLength(2)
  })

  it('is not renewed a second time, or after any other refusal', async () => {
    const refused = scripted(() => stale)
    expect((await errorOf(refused.client.get('/me'))).code).toBe('CSRF_FAILED')
    expect(paths(refused.sent)).toEqual(['/nonce', '/me', '/nonce', '/me'])
    const foreign = scripted(() => refusal(403, 'CSRF_FAILED', { reason: 'cross_site' }))
    expect((await errorOf(foreign.client.get('/me'))).details).toEqual({ reason: 'cross_site' })
    expect(foreign.sent).toHaveLength(2)
  })

  it('is forgotten after a logout', async () => {
    const { client, sent } = scripted(() => ok({}))
    await client.post('/auth/logout')
    await client.get('/me')
    expect(paths(sent)).toEqual(['/nonce', '/auth/logout', '/nonce', '/me'])
  })

  it('is fetched again with the next request when its fetch failed', async () => {
    let broken = true
    const client = createClient({
      fetch: async (url) => {
        if (url.endsWith('/nonce') && broken) throw new TypeError('fetch failed')
        return Response.json({ data: { nonce: 'n' } })
      }
    })
    expect((await errorOf(client.get('/me'))).code).toBe('NO_ANSWER')
    broken = false
    expect(await client.get('/me')).toEqual({ nonce: 'n' })
  })
})

describe('a request', () => {
  it('has its query, body and key, and the common headers', async () => {
    const { client, sent } = scripted(() => ok({}), { headers: { 'accept-language': 'de' } })
    const query = { ref: 'mira & co', utm_source: undefined }
    await client.post(
      '/store/checkout-session',
      { items: [{ productId: 3, quantity: 1 }] },
      { query, idempotencyKey: 'k' }
    )
    const { url, init } = sent[1] ?? { url: '', init: {} }
    expect(url).toBe('/api/secure/store/checkout-session?ref=mira+%26+co')
    expect(init).toMatchObject({ method: 'POST', credentials: 'same-origin' })
    expect(init.headers).toEqual({
      accept: 'application/json',
      'accept-language': 'de',
      'content-type': 'application/json',
      'x-nonce': 'n1',
      'idempotency-key': 'k'
    })
    expect(init.body).toBe('{"items":[{"productId":3,"quantity":1}]}')
    await client.get('/store/offers', { query: { page: 2 } })
    expect(sent[2]?.url).toBe('/api/secure/store/offers?page=2')
    expect(sent[2]?.init.body).toBeUndefined()
  })

  it('returns the data, or the whole envelope from `request`', async () => {
    const { client } = scripted(() => ({ json: { data: { a: 1 }, meta: { nextStep: 'NONE' } } }))
    expect(await client.get('/me')).toEqual({ a: 1 })
    expect(await client.request('GET', '/me')).toEqual({ data: { a: 1 }, meta: { nextStep: 'NONE' } })
  })

  it('rejects with the caller’s reason when it is aborted', async () => {
    const client = createClient({
      fetch: (_url, init) =>
        new Promise((_resolve, reject) => {
          init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
        })
    })
    const reason = new Error('left the page')
    const controller = new AbortController()
    const request = client.get('/health', { signal: controller.signal })
    controller.abort(reason)
    await expect(request).rejects.toBe(reason)
  })
})

describe('a refusal', () => {
  it('is an error with the code, status, details and headers of the response', async () => {
    const limited = { ...refusal(429, 'AUTH_RATE_LIMITED', { bucket: 'login_ip' }), headers: { 'retry-after': '60' } }
    const { client } = scripted(() => limited)
    const error = await errorOf(client.post('/auth/login', { email: 'a@b.example', password: 'x' }))
    expect(error).toMatchObject({
      name: 'ShopError',
      message: 'No.',
      code: 'AUTH_RATE_LIMITED',
      status: 429,
      details: { bucket: 'login_ip' },
      requestId: 'r1',
      retryAfterSeconds: 60
    })
    expect([error.is('AUTH_RATE_LIMITED'), error.is('CSRF_FAILED')]).toEqual([true, false])
  })

  it.each([
    ['HTML', { status: 502, text: '<h1>Bad gateway</h1>' }],
    ['nothing', { status: 200, text: '' }]
  ])('is NO_ANSWER when the response is %s', async (_what, reaction) => {
    const { client } = scripted(() => reaction)
    expect((await errorOf(client.get('/health'))).code).toBe('NO_ANSWER')
  })
})

describe('the types', () => {
  it('describe the parameters and the result of each operation', () => {
    const client = createClient()
    type Get = typeof client.get
    expectTypeOf<Parameters<Get>[0]>().toEqualTypeOf<
      | '/nonce'
      | '/me'
      | '/orders'
      | `/orders/${number}`
      | '/me/prices'
      | '/me/subscriptions'
      | '/store/offers'
      | `/store/orders/${string}`
      | '/store/products'
      | `/store/products/${string}`
      | '/store/categories'
      | '/store/redirects'
      | '/store/payment-config'
      | '/me/email-change'
      | '/me/address'
      | '/affiliates/link'
      | '/affiliates/payouts'
      | '/affiliates/referrals'
      | '/affiliates/me'
      | '/affiliates/stats'
      | '/me/downloads'
      | '/health'
    >()
    expectTypeOf(() => client.get('/me'))
      .returns.resolves.toHaveProperty('user')
      .toHaveProperty('id')
      .toBeNumber()
    expectTypeOf(() => client.post('/auth/logout')).returns.resolves.toEqualTypeOf<{ loggedOut: true }>()
    expectTypeOf((id: number) => client.post(`/me/subscriptions/${id}/cancel`))
      .returns.resolves.toHaveProperty('subscription')
      .toHaveProperty('cancelAtPeriodEnd')
      .toBeBoolean()
    // @ts-expect-error the id is a number
    expectTypeOf(() => client.post('/me/subscriptions/x/cancel')).toBeFunction()
    // @ts-expect-error a login requires a password
    expectTypeOf(() => client.post('/auth/login', { email: 'a' })).toBeFunction()
    // @ts-expect-error this path does not support GET
    expectTypeOf(() => client.get('/auth/login')).toBeFunction()
    // @ts-expect-error this parameter does not exist
    expectTypeOf(() => client.get('/store/offers', { query: { colour: 'red' } })).toBeFunction()
    const error = new ShopError('NO_ANSWER', '', {}) as ShopError
    expect(error.is('VALIDATION_FAILED') && error.details.fieldErrors['email']?.[0]).toBe(false)
  })
})

describe('a shop', () => {
  async function open(): Promise<{ shop: RunningShop; client: Client }> {
    const shop = await startShop()
    onTestFinished(() => shop.stop())
    const visitor = shop.visitor()
    const client = createClient({
      baseUrl: `${shop.url}/api/secure`,
      fetch: (url, init) => visitor.fetch(url, { ...init, headers: init.headers as Record<string, string> })
    })
    return { shop, client }
  }

  it('can be used from registration to logout', async () => {
    const { client } = await open()
    const { meta } = await client.request('POST', '/auth/register', {
      body: { email: 'ada@example.com', password: 'tidal-basalt-93', displayName: 'Ada', acceptTerms: true }
    })
    expect(meta.nextStep).toBe('NONE')
    const { offers } = await client.get('/store/offers')
    const productId = offers[0]?.productId ?? 0
    const bought = await client.post('/store/checkout-session', { items: [{ productId, quantity: 1 }] })
    expect(bought.orderId).toMatch(/^\d+$/)
    const { orders } = await client.get('/orders', { query: { perPage: 5 } })
    expect(orders.map(({ id }) => String(id))).toEqual([bought.orderId])
    await client.patch('/me', { displayName: 'Ada Q.' })
    expect((await client.get('/me')).user.displayName).toBe('Ada Q.')
    await client.post('/auth/logout')
    expect((await errorOf(client.get('/me'))).is('NOT_AUTHENTICATED')).toBe(true)
    await client.post('/auth/login', { email: 'ada@example.com', password: 'tidal-basalt-93' })
    expect((await client.get('/me')).flags.isLoggedIn).toBe(true)
  })

  it('reports an error for each invalid field', async () => {
    const { client } = await open()
    const error = await errorOf(client.post('/store/checkout-session', { items: [{ productId: 1, quantity: 99 }] }))
    expect(error.is('VALIDATION_FAILED') && Object.keys(error.details.fieldErrors)).toEqual(['items.0.quantity'])
  })
})
