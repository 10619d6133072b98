import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { H3 } from 'h3'
import { toNodeHandler } from 'srvx/node'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { listenHttp } from '../../src/platform/http/listen.ts'
import { toNodeListener } from '../../src/proxy/node.ts'
import { createProxy } from '../../src/proxy/proxy.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { visitThrough } from './journey.ts'
import { exchange } from '../support/raw-http.ts'
import { fakeService } from './upstream.ts'

let shop: RunningShop
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  shop = await startShop({ env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } })
})
afterAll(() => shop.stop())
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const silent = { warn: () => undefined, error: () => undefined }

describe('the proxy', () => {
  it('serves a visitor on the service’s own server', async () => {
    expect(await visitThrough(`${shop.url}/api/secure`)).toBe(401)
  })

  it('serves a visitor on its own port', async () => {
    const listener = await listenHttp({
      handle: createProxy({ upstream: shop.url }),
      host: '127.0.0.1',
      port: 0,
      log: silent
    })
    closing.push(() => listener.close({ graceMs: 1000 }))
    expect(await visitThrough(`${listener.url}/api/secure`)).toBe(401)
  })

  it('serves a visitor in a node:http server', async () => {
    const url = await serve(toNodeListener(createProxy({ upstream: shop.url })))
    expect(await visitThrough(`${url}/api/secure`)).toBe(401)
  })

  it('serves a visitor in an h3 app', async () => {
    const proxy = createProxy({ upstream: shop.url })
    const site = new H3().get('/', () => 'the site').all('/api/secure/**', (event) => proxy(event.req))
    const url = await serve(toNodeHandler((request) => site.fetch(request)) as RequestListener)
    expect(await (await fetch(url)).text()).toBe('the site')
    expect(await visitThrough(`${url}/api/secure`)).toBe(401)
  })

  it('serves a visitor as a route handler of Next.js or Nuxt', async () => {
    const handler: (request: Request) => Promise<Response> = createProxy({ upstream: shop.url })
    // The Request of a framework's route handler has no socket and no Node request.
    const url = await serve(
      toNodeHandler(async (request) => {
        const body = request.method === 'GET' || request.method === 'HEAD' ? null : await request.arrayBuffer()
        return handler(new Request(request.url, { method: request.method, headers: request.headers, body }))
      }) as RequestListener
    )
    expect(await visitThrough(`${url}/api/secure`)).toBe(401)
  })
})

describe('the proxy in Express', () => {
  /** A mount as Express calls it: without its path in `url`, and after a body parser that may have read the body. */
  async function mount(parse: (body: string) => unknown): Promise<string> {
    const proxy = toNodeListener(createProxy({ upstream: shop.url }))
    return serve((req, res) => {
      const originalUrl = req.url ?? ''
      const call = (body?: unknown): void => {
        Object.assign(req, { originalUrl, url: originalUrl.slice('/api/secure'.length), body, ip: '203.0.113.7' })
        proxy(req, res)
      }
      if (!req.headers['content-type']?.startsWith('application/json')) return call()
      const chunks: Buffer[] = []
      req.on('data', (chunk: Buffer) => chunks.push(chunk))
      req.on('end', () => call(parse(Buffer.concat(chunks).toString('utf8'))))
    })
  }

  it('serves a visitor under a mount, after express.json()', async () => {
    const url = await mount((body) => JSON.parse(body))
    expect(await visitThrough(`${url}/api/secure`)).toBe(401)
  })

  it('names the middleware that took a body away', async () => {
    const url = await mount(() => undefined)
    const refused = await fetch(`${url}/api/secure/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}'
    })
    expect([refused.status, await refused.text()]).toEqual([
      500,
      'Mount the proxy before the middleware that reads request bodies.'
    ])
  })

  it('forwards the address that Express found behind its trusted proxies', async () => {
    const service = await fakeService()
    closing.push(() => service.stop())
    const listener = toNodeListener(createProxy({ upstream: service.url }))
    const url = await serve((req, res) => listener(Object.assign(req, { ip: '203.0.113.7' }), res))
    await fetch(`${url}/api/secure/health`)
    expect(service.received[0]?.headers['x-forwarded-for']).toBe('203.0.113.7')
  })
})

describe.each(['mounted', 'listener', 'plain Node', 'h3'] as const)('raw requests to the proxy, %s', (form) => {
  async function open(): Promise<string> {
    if (form === 'mounted') return shop.url
    const proxy = createProxy({ upstream: shop.url })
    if (form === 'plain Node') return serve(toNodeListener(proxy))
    if (form === 'h3') {
      const site = new H3().all('/api/secure/**', (event) => proxy(event.req))
      return serve(toNodeHandler((request) => site.fetch(request)) as RequestListener)
    }
    const listener = await listenHttp({ handle: proxy, host: '127.0.0.1', port: 0, log: silent })
    closing.push(() => listener.close({ graceMs: 1000 }))
    return listener.url
  }

  it('return 404 for encoded, relative and unlisted paths', async () => {
    const url = await open()
    const paths = [
      '/api/secure/../v1/health',
      '/api/secure/x/../health',
      '/api/secure/%2e%2e/health',
      '/api/secure/./health',
      '/api/secure//health',
      '/api/secure/health/',
      '/api/secure/%68ealth',
      '/api/secure/health%00',
      '/api/secure/health;a=b',
      '/api/secure\\health',
      '/api/secure/store%2Foffers',
      '/api/secure/HEALTH',
      '/api/secure/webhooks/stripe'
    ]
    for (const path of paths) {
      const answer = await exchange(url, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      expect([path, answer.slice(0, 12)]).toEqual([path, 'HTTP/1.1 404'])
    }
  })

  it('reach a listed path', async () => {
    const url = await open()
    const request = 'GET /api/secure/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    expect(await exchange(url, request)).toMatch(/^HTTP\/1.1 200/)
  })

  it('need exactly one nonce, which a Connection header cannot remove', async () => {
    const url = await open()
    const { data } = (await (await fetch(`${url}/api/secure/nonce`)).json()) as { data: { nonce: string } }
    const get = (headers: string): Promise<string> =>
      exchange(url, `GET /api/secure/me HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`)
    const nonce = `X-Nonce: ${data.nonce}\r\n`
    expect(await get(`${nonce}Connection: close, x-nonce`)).toContain('"NOT_AUTHENTICATED"')
    expect(await get(`${nonce}${nonce}Connection: close`)).toContain('"invalid_nonce"')
    expect(await get(`X-Nonce: \r\nConnection: close`)).toContain('"missing_nonce"')
  })
})

describe('the client’s address', () => {
  const spendLimit = async (proxyRoot: string, headers: Record<string, string>): Promise<number> => {
    const { data } = (await (await fetch(`${proxyRoot}/nonce`)).json()) as { data: { nonce: string } }
    const response = await fetch(`${proxyRoot}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-nonce': data.nonce, ...headers },
      body: JSON.stringify({ email: 'unknown@example.com', password: 'wrong password' })
    })
    return response.status
  }

  it('comes from a trusted proxy, in the same process and over the network', async () => {
    const limited = await startShop({ env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } })
    closing.push(() => limited.stop())
    limited.app.db.sqlite.exec(
      `INSERT INTO settings (key, value, updated_at) VALUES ('limits.login_ip', '"2/3600"', 0), ('limits.login_account', '"off"', 0)`
    )
    const separate = await listenHttp({
      handle: createProxy({ upstream: limited.url, clientAddress: (request) => request.headers.get('x-test') ?? '' }),
      host: '127.0.0.1',
      port: 0,
      log: silent
    })
    closing.push(() => separate.close({ graceMs: 1000 }))
    const mounted = `${limited.url}/api/secure`
    const remote = `${separate.url}/api/secure`
    const from = (address: string): Record<string, string> => ({ 'x-test': address, 'x-forwarded-for': address })
    expect(await spendLimit(mounted, from('198.51.100.1'))).toBe(401)
    expect(await spendLimit(remote, from('198.51.100.1'))).toBe(401)
    expect(await spendLimit(mounted, from('198.51.100.1'))).toBe(429)
    expect(await spendLimit(remote, from('198.51.100.1'))).toBe(429)
    expect(await spendLimit(mounted, from('198.51.100.2'))).toBe(401)
  })

  it('is the socket’s when no proxy is trusted, whatever the client claims', async () => {
    const service = await fakeService()
    closing.push(() => service.stop())
    const url = await serve(toNodeListener(createProxy({ upstream: service.url })))
    await fetch(`${url}/api/secure/health`, { headers: { 'x-forwarded-for': '10.0.0.1' } })
    expect(service.received[0]?.headers['x-forwarded-for']).toBe('127.0.0.1')
  })
})

describe('a service behind https', () => {
  it('keeps its __Host- cookie over an http upstream', async () => {
    const secure = await startShop({ env: { SHOPSTEAD_PUBLIC_URL: 'https://shop.example' } })
    closing.push(() => secure.stop())
    const proxy = createProxy({ upstream: secure.url })
    const ask = (path: string, init?: RequestInit): Promise<Response> =>
      proxy(new Request(`https://shop.example/api/secure${path}`, init))
    const { data } = (await (await ask('/nonce')).json()) as { data: { nonce: string } }
    const registered = await ask('/auth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-nonce': data.nonce, origin: 'https://shop.example' },
      body: JSON.stringify({
        email: 'ada@example.com',
        password: 'tidal-basalt-93',
        displayName: 'Ada',
        acceptTerms: true
      })
    })
    const [cookie = ''] = registered.headers.getSetCookie()
    expect(cookie).toMatch(/^__Host-shopstead_session=[^;]+; Path=\/; SameSite=Lax; HttpOnly; Secure$/)
    const me = await ask('/me', { headers: { cookie: cookie.split(';')[0] ?? '', 'x-nonce': data.nonce } })
    expect(me.status).toBe(200)
  })
})

describe('an interrupted response', () => {
  it('closes the client’s connection and leaves the server running', async () => {
    const sockets: Socket[] = []
    const service = await fakeService((req, res) => {
      sockets.push(req.socket)
      res.writeHead(200, { 'content-type': 'application/json' }).write('{"data":')
    })
    const interrupted = async (url: string): Promise<string> => {
      const response = await fetch(`${url}/api/secure/health`)
      for (const socket of sockets) socket.destroy()
      return response.text()
    }
    closing.push(() => service.stop())
    const proxy = createProxy({ upstream: service.url })
    const listener = await listenHttp({ handle: proxy, host: '127.0.0.1', port: 0, log: silent })
    closing.push(() => listener.close({ graceMs: 1000 }))
    for (const url of [listener.url, await serve(toNodeListener(proxy))]) {
      await expect(interrupted(url)).rejects.toBeInstanceOf(Error)
      await expect(interrupted(url)).rejects.toBeInstanceOf(Error)
      expect((await fetch(`${url}/api/secure/none`)).status).toBe(404)
    }
  })
})
