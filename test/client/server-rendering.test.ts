import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient, isShopError } from '../../src/client/client.ts'
import type { Client, ClientOptions, SetCookie } from '../../src/client/client.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
const ada = { email: 'ada@example.com', password: 'tidal-basalt-93' }
beforeAll(async () => {
  shop = await startShop({ env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } })
})
afterAll(() => shop.stop())

type Sent = { path: string; init: RequestInit; headers: Headers }

/** A client as a server creates it for each request of a visitor, and what it sends. */
function serverClient(cookie: string, options: ClientOptions = {}): { client: Client; sent: Sent[] } {
  const sent: Sent[] = []
  const baseUrl = options.baseUrl ?? `${shop.url}/api/v1`
  const client = createClient({
    baseUrl,
    request: new Request('https://site.example/', { headers: { cookie } }),
    fetch: (url, init) => {
      sent.push({ path: url.slice(baseUrl.length), init, headers: new Headers(init.headers) })
      return fetch(url, init)
    },
    ...options
  })
  return { client, sent }
}

it('hands the cookies of a login to the visitor, and reads their account with it', async () => {
  const cookies: SetCookie[] = []
  const { client } = serverClient('theme=dark', { onSetCookie: (cookie) => cookies.push(cookie) })
  await client.register({ ...ada, displayName: 'Ada', acceptTerms: true })
  expect((await client.me()).user.email).toBe(ada.email)
  const session = cookies.find(({ name }) => name === 'shopstead_session')
  expect(session).toMatchObject({
    header: expect.stringMatching(/^shopstead_session=/),
    value: expect.stringMatching(/^\S{20,}$/),
    options: { path: '/', httpOnly: true, secure: false, sameSite: 'lax' }
  })

  const next = serverClient(`theme=dark; shopstead_session=${session?.value}`)
  expect((await next.client.me()).user.email).toBe(ada.email)
  expect(next.sent.map(({ path }) => path)).toEqual(['/me'])
  expect(next.sent[0]?.headers.get('cookie')).toBe(`shopstead_session=${session?.value}`)
  await next.client.logout()
  await next.client.me().catch(() => undefined)
  expect(next.sent.at(-1)?.headers.get('cookie')).toBeNull()
})

it('sends a nonce for reads only through a proxy', async () => {
  const { client, sent } = serverClient('', { baseUrl: `${shop.url}/api/secure` })
  const error = await client.me().catch((thrown: unknown) => thrown)
  expect(isShopError(error, 'NOT_AUTHENTICATED')).toBe(true)
  await client.orders.list().catch(() => undefined)
  expect(sent.map(({ path }) => path)).toEqual(['/me', '/nonce', '/me', '/orders'])
})

it('sends no cookies with what everyone may read, and passes the options of caches on', async () => {
  const { client, sent } = serverClient('shopstead_session=x; shopstead_ref=mira')
  const next = { revalidate: 60, tags: ['products'] }
  const { products } = await client.products.list({ perPage: 1 }, { cache: 'force-cache', next })
  await client.products.get(products[0]?.slug ?? '')
  await client.get('/nonce')
  expect(sent[0]?.init).toMatchObject({ cache: 'force-cache', next })
  expect(sent.map(({ headers }) => headers.get('cookie'))).toEqual([
    null,
    null,
    'shopstead_session=x; shopstead_ref=mira'
  ])
})

it('keeps a repeated cookie repeated, so that the shop ignores both as a session', async () => {
  const twice = 'shopstead_session=a; shopstead_session=b'
  const { client, sent } = serverClient(twice)
  await client.me().catch(() => undefined)
  expect(sent[0]?.headers.get('cookie')).toBe(twice)
})

it('counts limits by the address of the visitor', async () => {
  const { client, sent } = serverClient('', { clientAddress: '203.0.113.7' })
  await client.login({ email: 'unknown@example.com', password: 'wrong password' }).catch(() => undefined)
  expect(sent[1]?.headers.get('x-forwarded-for')).toBe('203.0.113.7')
})

it('needs the whole address of the shop on a server', () => {
  const request = new Request('https://site.example/')
  expect(() => createClient({ request })).toThrow('needs the whole baseUrl')
})
