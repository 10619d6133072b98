import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { routes } from '../../../src/api/routes.ts'
import { storeRoutes } from '../../../src/pages/storefront/routes.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { checkOut, handoff } from '../../api/checkout-support.ts'
import { apply } from '../../shop/catalog/support.ts'
import { Browser } from '../../support/browser.ts'
import { filledPath } from '../../support/filled-path.ts'
import { startShop } from '../../support/running-shop.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { Random } from '../../torture/random.ts'
import { startCache } from './nginx.ts'
import type { Cache } from './nginx.ts'

const picture = `/media/${'a'.repeat(32)}-400.webp`
const catalog = ['offers', 'products', 'products/mug', 'products?sort=price&perPage=2', 'categories', 'payment-config']
const publicPaths = [
  ...['/api/v1', '/api/secure'].flatMap((root) => catalog.map((path) => `${root}/store/${path}`)),
  '/',
  '/?category=light',
  '/products/mug',
  '/products/lamp',
  '/robots.txt',
  '/sitemap.xml',
  picture
]

type Front = { shop: RunningShop; cache: Cache; get: (path: string, init?: RequestInit) => Promise<Response> }

/** A shop with its storefront behind nginx. Both end with the test. */
async function shopBehindCache(): Promise<Front> {
  const shop = await startShop({ env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } })
  let isRunning = true
  onTestFinished(() => (isRunning ? shop.stop() : undefined))
  setSetting(shop.app.db, 'storefront.enabled', 'true', shop.app.clock.now())
  mkdirSync(join(shop.dataDir, 'media'))
  writeFileSync(join(shop.dataDir, picture), '0123456789')
  const cache = await startCache(temporaryFolder(), shop.url)
  onTestFinished(() => cache.stop())
  const get = (path: string, init: RequestInit = {}) => fetch(`${cache.url}${path}`, { ...init, redirect: 'manual' })
  const stop = async () => {
    isRunning = false
    await shop.stop()
  }
  return { shop: { ...shop, stop }, cache, get }
}

const sentBy = (response: Response): string | null => response.headers.get('x-cache')

it('nginx as docs/scaling.md configures it answers every repeated read, whatever cookies it has', async () => {
  const { get } = await shopBehindCache()
  for (const path of publicPaths) expect([path, (await get(path)).status]).toEqual([path, 200])
  const random = new Random(1)
  const answers = { all: 0, fromCache: 0 }
  for (let round = 0; round < 1_000; round += 1) {
    const headers = {
      cookie: `shopstead_session=${random.between(0, 9)}; theme=${round}`,
      authorization: `Basic ${round}`
    }
    const response = await get(random.pick(publicPaths), { headers })
    await response.arrayBuffer()
    answers.all += 1
    if (response.status === 200 && sentBy(response) === 'HIT') answers.fromCache += 1
  }
  expect(answers).toEqual({ all: 1_000, fromCache: 1_000 })
})

it('a changed price and a sold unit are visible a minute later, and nginx asks only by ETag for the rest', async () => {
  const { shop, cache, get } = await shopBehindCache()
  const read = async (path: string) => {
    const response = await get(`/api/secure/store/${path}`)
    return { by: sentBy(response), text: await response.text() }
  }
  const paths = ['products/mug', 'products/last', 'products/lamp', 'products', 'offers']
  const before = await Promise.all(paths.map(read))
  expect(new Set(before.map(({ by }) => by))).toEqual(new Set(['MISS']))
  apply(shop.app.db, [{ slug: 'mug', name: 'Mug', price: '14.25' }])
  expect((await checkOut(shop.visitor(), { items: [{ productId: 4, quantity: 1 }], ...handoff })).status).toBe(200)
  cache.advance(59)
  expect(await Promise.all(paths.map(read))).toEqual(before.map(({ text }) => ({ by: 'HIT', text })))
  cache.advance(2)
  const [mug, last, lamp, list, offers] = await Promise.all(paths.map(read))
  expect(mug).toEqual({ by: 'EXPIRED', text: expect.stringContaining('"amount":14.25') })
  expect(last).toEqual({ by: 'EXPIRED', text: expect.stringContaining('"available":false') })
  expect(lamp).toEqual({ by: 'REVALIDATED', text: before[2]?.text })
  expect([list?.text, offers?.text]).toEqual(
    [14.25, 14.25].map((price) => expect.stringContaining(`"amount":${price}`))
  )
  expect((await read('products/mug')).by).toBe('HIT')
})

it('a picture has HEAD, ranges and 304 from the cache, and the storefront’s pages have 304', async () => {
  const { get } = await shopBehindCache()
  const head = await get(picture, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', ''])
  const part = await get(picture, { headers: { range: 'bytes=2-4' } })
  expect([part.status, sentBy(part), await part.text()]).toEqual([206, 'HIT', '234'])
  const far = await get(picture, { headers: { range: 'bytes=10-' } })
  expect(far.status).toBe(416)
  for (const path of [picture, '/products/mug', '/api/v1/store/products']) {
    const first = await get(path)
    expect(first.headers.get('etag')).not.toBeNull()
    const again = await get(path, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
    expect([path, again.status, sentBy(again), await again.text()]).toEqual([path, 304, 'HIT', ''])
  }
  const [plain, small] = await Promise.all(
    ['identity', 'br'].map(async (encoding) => (await get('/', { headers: { 'accept-encoding': encoding } })).headers)
  )
  expect([plain?.get('content-encoding'), small?.get('content-encoding')]).toEqual([null, 'br'])
  expect(small?.get('etag')).not.toBe(plain?.get('etag'))
})

it('the catalog is readable while the shop is down, and everything else is refused', async () => {
  const { shop, cache, get } = await shopBehindCache()
  for (const path of publicPaths) await (await get(path)).arrayBuffer()
  await shop.stop()
  cache.advance(3_600)
  for (const path of publicPaths) {
    const response = await get(path)
    expect([path, response.status, sentBy(response)]).toEqual([path, 200, path === picture ? 'HIT' : 'STALE'])
  }
  for (const path of ['/api/v1/me', '/api/secure/nonce', '/cart', '/api/v1/store/products/new'])
    expect([path, (await get(path)).status]).toEqual([path, 502])
})

/** `token` is the address of their order; `secrets` are the texts that only they may see. */
type Buyer = { browser: Browser; token: string; secrets: string[] }

/** A logged-in buyer with a paid order. */
async function openAccount({ cache }: Front, number: number): Promise<Buyer> {
  const browser = new Browser(`${cache.url}/api/v1`, { 'x-forwarded-for': `198.51.100.${number}` })
  const [email, displayName] = [`person${number}@people.example`, `Person Number${number}`]
  await browser.register({ email, displayName })
  const { data } = await checkOut(browser, { items: [{ productId: 1, quantity: number + 1 }], ...handoff })
  return {
    browser,
    token: data.orderToken,
    secrets: [email, displayName, data.orderToken, ...browser.cookies.values()]
  }
}

/** Every address of the API, and the pages, with those of the buyers' orders. */
function pathsOf(buyers: readonly Buyer[]): string[] {
  return [
    ...routes.map(({ path }) => filledPath(path)).flatMap((path) => [`/api/v1${path}`, `/api/secure${path}`]),
    ...buyers.flatMap(({ token }) => [
      `/api/v1/store/orders/${token}`,
      `/checkout/done/${token}`,
      `/thanks?orderToken=${token}`
    ]),
    ...storeRoutes.map(({ name }) => name.replace(/:\w+/, '1')),
    '/openapi.json',
    '/docs',
    '/nothing',
    '/invoices/1',
    '/downloads/1',
    ...publicPaths
  ]
}

const poison = 'poison.example'

/** Some of the headers that clients send, or that a service might trust. */
function anyHeaders(random: Random): Record<string, string> {
  const headers: [string, string][] = [
    ['authorization', 'Bearer secret'],
    ['x-correlation-id', poison],
    ['x-forwarded-host', poison],
    ['x-forwarded-for', '203.0.113.9'],
    ['x-original-url', `/${poison}`],
    ['origin', `https://${poison}`],
    ['accept', 'text/html'],
    ['accept-encoding', 'br'],
    ['accept-language', poison],
    ['if-none-match', '"x"'],
    ['range', 'bytes=0-5'],
    ['cache-control', 'no-cache']
  ]
  return Object.fromEntries(headers.filter(() => random.oneIn(3)))
}

const queries = ['page=1', 'x', 'userId=1', 'utm_source=a', '%']

function withAnyQuery(path: string, random: Random): string {
  return random.oneIn(3) ? `${path}${path.includes('?') ? '&' : '?'}${random.pick(queries)}` : path
}

const fromCache: ReadonlySet<string | null> = new Set(['HIT', 'STALE', 'UPDATING', 'REVALIDATED'])

/** The files that a cache may store: the catalog, its pages, pictures and what search engines read. */
const publicKey =
  /^[\d.]+\/(api\/(v1|secure)\/store\/(offers|products|categories|payment-config)|media\/|products\/|robots\.txt|site\.webmanifest|feeds\/|\.well-known\/|sitemap|theme-|\?|$)/

it('no cache gives a person’s data to another, whatever is asked by whom', async () => {
  const front = await shopBehindCache()
  const { cache } = front
  const buyers = [await openAccount(front, 1), await openAccount(front, 2), await openAccount(front, 3)]
  const visitors = [...buyers.map(({ browser }) => browser), new Browser(`${cache.url}/api/v1`)]
  const paths = pathsOf(buyers)
  const random = new Random(20261123)
  const wrong: string[] = []
  const opened = new Map<Browser, Set<string>>()
  for (let round = 0; round < 3_000; round += 1) {
    const path = withAnyQuery(random.pick(paths), random)
    const caller = random.pick(visitors)
    const method = random.oneIn(5) ? 'HEAD' : 'GET'
    const response = await caller.fetch(`${cache.url}${path}`, { method, headers: anyHeaders(random) })
    const text = `${JSON.stringify([...response.headers])}${await response.text()}`
    // Everyone who has the address of an order may read it. /thanks remembers in a cookie of the browser which one it was.
    const thanked = opened.get(caller) ?? new Set()
    for (const { token } of buyers) if (path.startsWith(`/thanks?orderToken=${token}`)) thanked.add(token)
    opened.set(caller, thanked)
    const knows = (token: string): boolean => path.includes(token) || (path.startsWith('/thanks') && thanked.has(token))
    const others = buyers.filter(({ browser, token }) => browser !== caller && !knows(token))
    const leaked = others.flatMap(({ secrets }) => secrets).filter((secret) => text.includes(secret))
    if (leaked.length > 0) wrong.push(`${method} ${path} shows ${leaked.join(', ')}`)
    const isPublic = response.headers.get('cache-control')?.startsWith('public') === true
    if (fromCache.has(sentBy(response)) && (!isPublic || response.headers.has('set-cookie')))
      wrong.push(`${method} ${path} came from the cache`)
    if (random.oneIn(20)) cache.advance(70)
  }
  expect(wrong).toEqual([])
  const stored = cache.stored()
  expect(stored.length).toBeGreaterThan(publicPaths.length)
  expect(stored.map(({ key }) => key).filter((key) => !publicKey.test(key))).toEqual([])
  const secrets = [...buyers.flatMap((buyer) => buyer.secrets), poison, 'shopstead_']
  const isPersonal = (text: string) => /^set-cookie/im.test(text) || secrets.some((secret) => text.includes(secret))
  expect(stored.filter(({ text }) => isPersonal(text))).toEqual([])
})
