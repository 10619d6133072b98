import { afterEach, describe, expect, it } from 'vitest'
import { routes } from '../../src/api/routes.ts'
import { filledPath } from '../support/filled-path.ts'
import { createProxy } from '../../src/proxy/proxy.ts'
import type { ProxyOptions } from '../../src/proxy/proxy.ts'
import { collectGarbage } from '../support/garbage.ts'
import { fakeService } from './upstream.ts'
import type { FakeService } from './upstream.ts'

const site = 'https://site.example/api/secure'
const running: FakeService[] = []

afterEach(async () => {
  for (const service of running.splice(0)) await service.stop()
})

async function startProxy(
  answer?: Parameters<typeof fakeService>[0],
  options: Partial<ProxyOptions> = {}
): Promise<{
  service: FakeService
  send: (path: string, init?: RequestInit) => Promise<Response>
  failures: unknown[]
}> {
  const service = await fakeService(answer)
  running.push(service)
  const failures: unknown[] = []
  const proxy = createProxy({ upstream: service.url, onFailure: (error) => failures.push(error), ...options })
  return { service, failures, send: (path, init) => proxy(new Request(`${site}${path}`, init)) }
}

async function errorOf(response: Response): Promise<unknown[]> {
  const { error, meta } = (await response.json()) as {
    error: { code: string; details: { reason?: string } }
    meta: { request_id: string; correlationId: string }
  }
  expect(meta.request_id).toBe(response.headers.get('x-request-id'))
  return [response.status, error.code, error.details.reason]
}

const nonce = { 'x-nonce': 'n'.repeat(80) }
const post = (headers: Record<string, string> = {}, body = '{}'): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...nonce, ...headers },
  body
})

describe('the allowlist', () => {
  it('contains every route except the webhook', async () => {
    const { service, send } = await startProxy()
    for (const { method, path } of routes) {
      const response = await send(filledPath(path), method === 'GET' ? { headers: nonce } : { method, headers: nonce })
      expect([path, response.status]).toEqual([path, path === '/webhooks/stripe' ? 404 : 200])
    }
    const expected = routes
      .filter((route) => route.proxy !== null)
      .map(({ method, path }) => `${method} /api/v1${filledPath(path)}`)
    expect(service.received.map(({ method, url }) => `${method} ${url}`)).toEqual(expected)
    expect(expected.length).toBeGreaterThan(10)
  })

  it.each([
    '/webhooks/stripe',
    '',
    '/',
    '/admin',
    '/me/',
    '/ME',
    '//me',
    '/me;x=1',
    '/%6de',
    '/store%2foffers',
    '/me%00',
    '/__proto__',
    '/constructor'
  ])('does not contain %j', async (path) => {
    const { service, send } = await startProxy()
    expect(await errorOf(await send(path, { headers: nonce }))).toEqual([404, 'NOT_FOUND', undefined])
    expect(service.received).toEqual([])
  })

  it('refuses other methods and lists the allowed ones', async () => {
    const { service, send } = await startProxy()
    const refused = await send('/me', { method: 'DELETE' })
    expect(refused.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(['GET', 'HEAD']))
    expect(await errorOf(refused)).toEqual([405, 'METHOD_NOT_ALLOWED', undefined])
    expect((await send('/health', { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD')
    expect((await send('/auth/login', { method: 'OPTIONS' })).status).toBe(405)
    expect(service.received).toEqual([])
  })

  it('forwards only the query parameters of the route, unchanged', async () => {
    const { service, send } = await startProxy()
    const sent: [string, string][] = [
      ['/store/offers?page=2&category=x', '/api/v1/store/offers'],
      ['/health?x=1', '/api/v1/health'],
      ['/orders?page=2&user=7&perPage=3&__proto__=1', '/api/v1/orders?page=2&perPage=3'],
      ['/orders?page=1&page=2', '/api/v1/orders?page=1&page=2'],
      ['/orders?%70age=2&perPage=%zz&%zz=1', '/api/v1/orders?%70age=2&perPage=%zz'],
      ['/affiliates/referrals?limit=5&cursor=abc&affiliateId=9', '/api/v1/affiliates/referrals?limit=5&cursor=abc']
    ]
    for (const [path] of sent) await send(path, { headers: nonce })
    await send('/store/checkout-session?ref=mira&utm_source=a+b&price=0&campaign=%C3%A9', post())
    expect(service.received.map(({ url }) => url)).toEqual([
      ...sent.map(([, forwarded]) => forwarded),
      '/api/v1/store/checkout-session?ref=mira&utm_source=a+b&campaign=%C3%A9'
    ])
  })
})

describe('the mount', () => {
  it.each(['/shop/api', 'shop/api', '/shop/api/'])('can be at the prefix %j', async (prefix) => {
    const service = await fakeService()
    running.push(service)
    const proxy = createProxy({ upstream: service.url, prefix })
    expect((await proxy(new Request('https://site.example/shop/api/health'))).status).toBe(200)
    expect((await proxy(new Request('https://site.example/api/secure/health'))).status).toBe(404)
  })

  it('can be at the root', async () => {
    const service = await fakeService()
    running.push(service)
    const proxy = createProxy({ upstream: service.url, prefix: '/' })
    expect((await proxy(new Request('https://site.example/health'))).status).toBe(200)
  })

  it.each(['https://site.example/api', '/a//b', '/a/../b', '/a?b', '/a b', '/[...path]', '/**'])(
    'refuses the prefix %j',
    (prefix) => {
      expect(() => createProxy({ upstream: 'http://127.0.0.1:3000', prefix })).toThrow(TypeError)
    }
  )
})

describe('the client’s address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    [' 203.0.113.7:5000 ', '203.0.113.7'],
    ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['10.0.0.1, 203.0.113.7', undefined],
    ['unknown', undefined],
    ['', undefined],
    [null, undefined]
  ])('comes from the framework: %j', async (clientAddress, forwarded) => {
    const service = await fakeService()
    running.push(service)
    const proxy = createProxy({ upstream: service.url })
    await proxy(new Request(`${site}/health`, { headers: { 'x-forwarded-for': '192.0.2.66' } }), { clientAddress })
    expect(service.received[0]?.headers['x-forwarded-for']).toBe(forwarded)
  })
})

it('the proxy names the parameters that it dropped', async () => {
  const { send } = await startProxy()
  const dropped = async (path: string): Promise<string | null> =>
    (await send(path, { headers: nonce })).headers.get('x-dropped-query')
  expect(await dropped('/orders?page=2&perPage=3')).toBeNull()
  expect(await dropped('/store/offers?page=2&category=x&page=3')).toBe('page, category')
  expect(await dropped('/health?a%0d%0ab=1&<x>=2&%zz=3&ok=4')).toBe('ok')
  const many = Array.from({ length: 1000 }, (_, at) => `p${at}=1`).join('&')
  expect((await dropped(`/health?${many}`))?.split(', ')).toHaveLength(10)
})

describe('the proxy', () => {
  it('refuses a mutating request from another site before it looks for a nonce', async () => {
    const { service, send } = await startProxy()
    const crossSite = await send('/auth/login', { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } })
    expect(await errorOf(crossSite)).toEqual([403, 'CSRF_FAILED', 'cross_site'])
    const origin = await send('/auth/login', post({ origin: 'https://evil.example' }))
    expect(await errorOf(origin)).toEqual([403, 'CSRF_FAILED', 'cross_site'])
    expect(service.received).toEqual([])
    expect((await send('/auth/login', post({ origin: 'https://site.example' }))).status).toBe(200)
    expect((await send('/auth/login', post({ 'sec-fetch-site': 'same-origin' }))).status).toBe(200)
  })

  it('accepts an origin of this machine in development only, and no other origin then', async () => {
    const origins = ['http://localhost:5173', 'http://127.0.0.1:3000', 'http://[::1]:8080']
    const { send } = await startProxy(undefined, { development: true })
    const { service, send: sendLive } = await startProxy()
    for (const origin of origins) {
      expect((await send('/auth/login', post({ origin }))).status).toBe(200)
      expect(await errorOf(await sendLive('/auth/login', post({ origin })))).toEqual([403, 'CSRF_FAILED', 'cross_site'])
    }
    expect(service.received).toEqual([])
    for (const origin of ['https://evil.example', 'http://localhost.evil.example']) {
      expect(await errorOf(await send('/auth/login', post({ origin })))).toEqual([403, 'CSRF_FAILED', 'cross_site'])
    }
  })

  it('accepts the public URL and the configured origins', async () => {
    const { send } = await startProxy(undefined, {
      publicUrl: 'https://www.site.example',
      origins: ['https://app.example']
    })
    for (const origin of ['https://www.site.example', 'https://app.example']) {
      expect((await send('/auth/login', post({ origin }))).status).toBe(200)
    }
  })

  it('refuses a request without a nonce where the route requires one', async () => {
    const { service, send } = await startProxy()
    for (const { method, path, proxy } of routes) {
      if (proxy === null) continue
      const response = await send(filledPath(path), { method })
      expect([path, response.status]).toEqual([path, proxy.nonce ? 403 : 200])
      expect((await response.text()).includes('"reason":"missing_nonce"')).toBe(proxy.nonce)
    }
    expect(await errorOf(await send('/me', { headers: { 'x-nonce': '' } }))).toEqual([
      403,
      'CSRF_FAILED',
      'missing_nonce'
    ])
    expect(service.received.map(({ url }) => url)).toEqual([
      '/api/v1/nonce',
      '/api/v1/store/offers',
      '/api/v1/store/products',
      '/api/v1/store/products/1',
      '/api/v1/store/categories',
      '/api/v1/store/redirects',
      '/api/v1/store/payment-config',
      '/api/v1/store/orders/1',
      '/api/v1/health'
    ])
  })
})

describe('a forwarded request', () => {
  it('has the allowed headers and none that the client could forge', async () => {
    const { service, send } = await startProxy(undefined, { clientAddress: () => '198.51.100.7' })
    await send(
      '/auth/login',
      post({
        'idempotency-key': 'k1',
        'x-correlation-id': 'c1',
        accept: 'application/json',
        'accept-language': 'de',
        'if-none-match': '"e"',
        connection: 'x-nonce',
        authorization: 'Bearer stolen',
        forwarded: 'for=10.0.0.1',
        'x-forwarded-for': '10.0.0.1',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        'x-real-ip': '10.0.0.1',
        'x-shopstead-proxy': 'forged',
        origin: 'https://site.example',
        'sec-fetch-site': 'same-origin',
        'x-anything': 'else'
      })
    )
    const headers = { ...service.received[0]?.headers }
    for (const own of ['host', 'connection', 'content-length', 'accept-encoding', 'user-agent']) delete headers[own]
    // Added by fetch.
    for (const own of ['sec-fetch-mode', 'cache-control', 'pragma']) delete headers[own]
    expect(headers).toEqual({
      ...nonce,
      'idempotency-key': 'k1',
      'x-correlation-id': 'c1',
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-language': 'de',
      'if-none-match': '"e"',
      'x-forwarded-for': '198.51.100.7',
      'x-shopstead-proxy': '1'
    })
    expect(service.received[0]?.body).toBe('{}')
  })

  it('has only Shopstead’s cookies, including repeated ones', async () => {
    const { service, send } = await startProxy()
    const cookie =
      'theme=dark; __Host-shopstead_session=a; shopstead_session=b; shopstead_ref=mira; x_shopstead_session=c; shopstead_campaign=s%20x; __Host-shopstead_session=d; __Host-shopstead_device=e; shopstead_admin=1'
    await send('/me', { headers: { ...nonce, cookie } })
    expect(service.received[0]?.headers.cookie).toBe(
      '__Host-shopstead_session=a; shopstead_session=b; shopstead_ref=mira; shopstead_campaign=s%20x; __Host-shopstead_session=d; __Host-shopstead_device=e'
    )
    await send('/me', { headers: { ...nonce, cookie: 'theme=dark' } })
    expect(service.received[1]?.headers.cookie).toBeUndefined()
  })

  it('has no client address when the site does not know it', async () => {
    const { service, send } = await startProxy()
    await send('/health', { headers: { 'x-forwarded-for': '10.0.0.1' } })
    expect(service.received[0]?.headers['x-forwarded-for']).toBeUndefined()
  })

  it('asks the service to check the nonce only where the route requires one', async () => {
    const { service, send } = await startProxy()
    await send('/store/offers', { headers: { 'x-shopstead-proxy': '1' } })
    expect(service.received[0]?.headers['x-shopstead-proxy']).toBeUndefined()
  })

  it('has the unchanged body within the limit, and one byte over the limit for any larger body', async () => {
    const { service, send } = await startProxy()
    const whole = JSON.stringify({ text: 'é'.repeat(30_000) })
    await send('/auth/login', post({}, whole))
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(16_384))
      }
    })
    const endless: RequestInit & { duplex: 'half' } = { ...post(), body: stream, duplex: 'half' }
    await send('/auth/login', endless)
    expect(service.received[0]?.body).toBe(whole)
    expect(service.received[1]?.body.length).toBe(64 * 1024 + 1)
  })

  it('keeps the method HEAD', async () => {
    const { service, send } = await startProxy()
    const response = await send('/health', { method: 'HEAD' })
    expect([response.status, await response.text(), service.received[0]?.method]).toEqual([200, '', 'HEAD'])
  })
})

describe('a returned response', () => {
  it('has only the allowed headers, and all cookies without a Domain', async () => {
    const { send } = await startProxy((_req, res) => {
      res.writeHead(
        429,
        [
          ['content-type', 'application/json; charset=utf-8', 'etag', '"e1"', 'cache-control', 'no-store'],
          ['retry-after', '7', 'allow', 'GET', 'x-request-id', 'r1', 'idempotency-replayed', 'true'],
          ['server', 'secret/1.0', 'location', 'http://internal/', 'x-powered-by', 'us', 'via', '1.1 inner'],
          ['access-control-allow-origin', '*', 'content-security-policy', 'none'],
          ['set-cookie', '__Host-shopstead_session=a; Path=/; Secure; HttpOnly; SameSite=Lax'],
          ['set-cookie', 'shopstead_ref=m; Domain=internal.example; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT'],
          ['set-cookie', 'shopstead_campaign=domain; DOMAIN = x ;Secure']
        ].flat()
      )
      res.end('{"error":{}}')
    })
    const response = await send('/health')
    expect([...response.headers].filter(([name]) => name !== 'set-cookie')).toEqual([
      ['allow', 'GET'],
      ['cache-control', 'no-store'],
      ['content-type', 'application/json; charset=utf-8'],
      ['etag', '"e1"'],
      ['idempotency-replayed', 'true'],
      ['retry-after', '7'],
      ['x-content-type-options', 'nosniff'],
      ['x-request-id', 'r1']
    ])
    expect(response.headers.getSetCookie()).toEqual([
      '__Host-shopstead_session=a; Path=/; Secure; HttpOnly; SameSite=Lax',
      'shopstead_ref=m; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT',
      'shopstead_campaign=domain;Secure'
    ])
    expect([response.status, await response.text()]).toEqual([429, '{"error":{}}'])
  })

  it('keeps the status 304', async () => {
    const { send } = await startProxy((_req, res) => void res.writeHead(304, { etag: '"e"' }).end())
    const response = await send('/store/offers', { headers: { 'if-none-match': '"e"' } })
    expect([response.status, response.headers.get('etag'), response.body]).toEqual([304, '"e"', null])
  })

  it('is streamed before the service has finished it', async () => {
    const finish = Promise.withResolvers<void>()
    const { send } = await startProxy((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).write('{"data":')
      void finish.promise.then(() => res.end('1}'))
    })
    const reader = (await send('/health')).body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('{"data":')
    finish.resolve()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('1}')
    expect((await reader?.read())?.done).toBe(true)
  })
})

describe('a service that fails', () => {
  const unavailable = (reason: string): unknown[] => [503, 'DEPENDENCY_UNAVAILABLE', reason]

  it('returns 503 when it is down', async () => {
    const { service, send, failures } = await startProxy()
    await service.stop()
    const response = await send('/health')
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await errorOf(response)).toEqual(unavailable('unreachable'))
    expect(failures).toHaveLength(1)
  })

  it('times out when it hangs before or during its response', async () => {
    const { send } = await startProxy(() => undefined, { timeoutMs: 50 })
    expect(await errorOf(await send('/health'))).toEqual(unavailable('timeout'))
    const halfway = await startProxy(
      (_req, res) => void res.writeHead(200, { 'content-type': 'application/json' }).write('{"da'),
      { timeoutMs: 200 }
    )
    const response = await halfway.send('/health')
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toBeInstanceOf(Error)
  })

  it('has its connection closed when its response hangs, even after a garbage collection', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const { send } = await startProxy(
      (_req, res) => {
        res.on('close', resolve)
        res.writeHead(200, { 'content-type': 'application/json' }).write('{"da')
      },
      { timeoutMs: 200 }
    )
    const response = await send('/health')
    collectGarbage()
    await expect(response.text()).rejects.toBeInstanceOf(Error)
    await closed
  })

  it('times out even when `send` ignores the abort signal', async () => {
    const proxy = createProxy({ upstream: 'http://x', timeoutMs: 30, send: () => new Promise(() => undefined) })
    expect(await errorOf(await proxy(new Request(`${site}/health`)))).toEqual(unavailable('timeout'))
  })

  it.each([
    [
      'a page of HTML',
      (res: { end(text: string): void; setHeader(name: string, value: string): void }) => {
        res.setHeader('content-type', 'text/html')
        res.end('<h1>502</h1>')
      }
    ],
    ['a body without a content type', (res: { end(text: string): void }) => res.end('x')]
  ])('returns 503 when it answers with %s', async (_what, answer) => {
    const { send } = await startProxy((_req, res) => answer(res))
    expect(await errorOf(await send('/health'))).toEqual(unavailable('malformed'))
  })

  it('returns 503 when it answers with a redirect', async () => {
    const { send } = await startProxy((_req, res) => void res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end())
    const response = await send('/health')
    expect(response.headers.get('location')).toBeNull()
    expect(await errorOf(response)).toEqual(unavailable('malformed'))
  })

  it('returns 503 when it does not answer with HTTP', async () => {
    const { send } = await startProxy((req) => void req.socket.end('SSH-2.0-OpenSSH\r\n'))
    expect(await errorOf(await send('/health'))).toEqual(unavailable('unreachable'))
  })

  it('interrupts the client’s response when its own is interrupted', async () => {
    let interrupt = (): unknown => undefined
    const { send } = await startProxy((req, res) => {
      interrupt = () => req.socket.destroy()
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"data":')
    })
    const response = await send('/health')
    interrupt()
    await expect(response.text()).rejects.toBeInstanceOf(Error)
  })
})

describe('an upstream', () => {
  it.each([
    ['http://127.0.0.1:1234', 'http://127.0.0.1:1234/api/v1/health'],
    ['https://shop.example/', 'https://shop.example/api/v1/health'],
    ['https://shop.example/inner/v1/', 'https://shop.example/inner/v1/health']
  ])('%s is requested at %s', async (upstream, requested) => {
    const urls: string[] = []
    const proxy = createProxy({
      upstream,
      send: async (request) => {
        urls.push(request.url)
        return Response.json({})
      }
    })
    await proxy(new Request(`${site}/health`))
    expect(urls).toEqual([requested])
  })

  it.each(['', 'shop.example', 'ftp://shop.example', 'https://user@shop.example', 'https://shop.example/?a=1'])(
    '%j is refused',
    (upstream) => {
      expect(() => createProxy({ upstream })).toThrow(TypeError)
    }
  )
})
