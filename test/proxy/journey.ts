import { expect } from 'vitest'
import { Browser } from '../support/browser.ts'

/** Registers, shops and logs out through the proxy at `proxyRoot`. Returns the status of GET /me afterwards. */
export async function visitThrough(proxyRoot: string): Promise<number> {
  const visitor = new Browser(proxyRoot)
  const email = `visitor${Math.random()}@example.com`
  const registered = await visitor.register({ email })
  expect([registered.status, registered.data]).toMatchObject([201, { user: { email } }])
  expect(registered.headers.get('cache-control')).toBe('no-store')
  const own = { 'x-nonce': await visitor.nonce() }
  // A browser follows `next` on the site's own origin.
  const me = await visitor.get(new URL(String(registered.data['next']), proxyRoot).href, own)
  expect([me.status, me.data]).toMatchObject([200, { user: { email }, flags: { isLoggedIn: true } }])
  await refusals(visitor, proxyRoot)
  await shopping(visitor, own)
  const out = await visitor.post('/auth/logout', undefined, own)
  expect([out.status, visitor.cookies.has('shopstead_session')]).toEqual([200, false])
  expect((await visitor.get('/me', own)).error).toMatchObject({
    code: 'CSRF_FAILED',
    details: { reason: 'invalid_nonce' }
  })
  return (await visitor.get('/me', { 'x-nonce': await visitor.nonce() })).status
}

async function refusals(visitor: Browser, proxyRoot: string): Promise<void> {
  const refused = async (path: string, headers: Record<string, string> = {}): Promise<unknown[]> => {
    const { status, error } = await visitor.get(path, headers)
    return [status, error.code, error.details.reason]
  }
  const anonymous = await new Browser(proxyRoot).nonce()
  expect(await refused('/me')).toEqual([403, 'CSRF_FAILED', 'missing_nonce'])
  expect(await refused('/me', { 'x-nonce': anonymous })).toEqual([403, 'CSRF_FAILED', 'invalid_nonce'])
  expect(await refused('/me', { 'x-nonce': 'x'.repeat(80) })).toEqual([403, 'CSRF_FAILED', 'invalid_nonce'])
  expect(await refused('/webhooks/stripe')).toEqual([404, 'NOT_FOUND', undefined])
  const method = await visitor.post('/health', {})
  expect([method.status, method.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  const login = await visitor.post('/auth/login', { email: 'x@example.com' }, { 'x-nonce': anonymous })
  expect([login.status, login.error.code]).toEqual([400, 'VALIDATION_FAILED'])
  const large = await visitor.post('/auth/login', { email: 'x'.repeat(70_000) }, { 'x-nonce': anonymous })
  expect([large.status, large.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  const largeAndForged = await visitor.post('/auth/login', { email: 'x'.repeat(70_000) }, { 'x-nonce': 'forged' })
  expect([largeAndForged.status, largeAndForged.error.code]).toEqual([403, 'CSRF_FAILED'])
}

async function shopping(visitor: Browser, own: Record<string, string>): Promise<void> {
  const offers = await visitor.get<{ offers: { productId: number }[]; pagination: { perPage: number } }>(
    '/store/offers?perPage=1&page=0'
  )
  expect([offers.status, offers.data.pagination.perPage, offers.meta]).toEqual([200, 100, {}])
  const etag = offers.headers.get('etag') ?? ''
  expect((await visitor.get('/store/offers', { 'if-none-match': etag })).status).toBe(304)
  const productId = offers.data.offers[0]?.productId
  const body = { items: [{ productId, quantity: 1 }] }
  const key = { ...own, 'idempotency-key': `k-${Math.random()}` }
  const bought = await visitor.post<{ orderId: string }>('/store/checkout-session?utm_source=newsletter&x=1', body, key)
  expect(bought.status).toBe(200)
  const again = await visitor.post<{ orderId: string }>('/store/checkout-session?utm_source=newsletter&x=1', body, key)
  expect([again.headers.get('idempotency-replayed'), again.data.orderId]).toEqual(['true', bought.data.orderId])
  const orders = await visitor.get<{ orders: { id: number; marketingUtmSource: string }[] }>('/orders?perPage=1', own)
  expect(orders.data.orders).toMatchObject([{ id: Number(bought.data.orderId), marketingUtmSource: 'newsletter' }])
  expect((await visitor.get('/orders?perPage=0', own)).status).toBe(400)
}
