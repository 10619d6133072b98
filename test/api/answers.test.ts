import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LogFields } from '../../src/platform/log.ts'
import { rawRequest } from '../support/raw-http.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { expectNames, isoTime, standardMeta, uuid } from './shapes.ts'

type Line = { level: string; message: string; fields: LogFields }

const lines: Line[] = []
const write =
  (level: string) =>
  (message: string, fields: LogFields = {}): void =>
    void lines.push({ level, message, fields })
const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ overrides: { log } })
})
afterAll(() => shop.stop())

describe('every response', () => {
  it('has data or error, and meta with exactly the four standard fields', async () => {
    const visitor = shop.visitor()
    const success = await visitor.get('/nonce')
    expectNames(JSON.parse(success.text), ['data', 'meta'])
    const refused = await visitor.get('/me')
    expectNames(JSON.parse(refused.text), ['error', 'meta'])
    expectNames(refused.error, ['code', 'message', 'details'])
    expect(refused.error.details).toEqual({})
    for (const { meta } of [success, refused]) {
      expectNames(meta, standardMeta)
      expect(meta).toEqual({ correlationId: uuid, correlation_id: uuid, request_id: uuid, timestamp: isoTime })
      expect(meta?.['correlation_id']).toBe(meta?.['correlationId'])
    }
  })

  it('has a new request id as a header, and its content type', async () => {
    const first = await shop.visitor().get('/health')
    const second = await shop.visitor().get('/nowhere')
    for (const { headers, meta } of [first, second]) {
      expect(headers.get('x-request-id')).toBe(meta?.['request_id'])
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
    }
    expect(first.meta?.['request_id']).not.toBe(second.meta?.['request_id'])
  })

  it.each(['a', 'Order-7_b.c', 'x'.repeat(128)])('accepts the correlation id %s', async (id) => {
    const { meta } = await shop.visitor().get('/health', { 'x-correlation-id': id })
    expect([meta?.['correlationId'], meta?.['correlation_id']]).toEqual([id, id])
    expect(meta?.['request_id']).not.toBe(id)
  })

  it.each(['', 'x'.repeat(129), 'two words', 'a,b', 'a/b', '<b>', 'é'])(
    'gets a new correlation id instead of %j',
    async (id) => {
      const { meta } = await shop.visitor().get('/health', { 'x-correlation-id': id })
      expect(meta?.['correlationId']).toEqual(uuid)
    }
  )

  it('gets a new correlation id instead of two', async () => {
    const answer = await rawRequest(shop.url, 'GET', '/api/v1/health', ['X-Correlation-Id: a', 'X-Correlation-Id: b'])
    expect(JSON.parse(answer.body).meta.correlationId).toEqual(uuid)
  })

  it('forbids caches to store data of one user', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email: 'cached@example.com' })
    for (const path of ['/me', '/orders', '/nonce', '/me/downloads', '/affiliates/referrals', '/affiliates/me']) {
      expect([path, (await visitor.get(path)).headers.get('cache-control')]).toEqual([path, 'no-store'])
    }
    expect((await visitor.post('/auth/logout')).headers.get('cache-control')).toBe('no-store')
    expect((await visitor.post('/auth/login', {})).headers.get('cache-control')).toBe('no-store')
  })
})

describe('HEAD', () => {
  it.each(['/health', '/nonce', '/me', '/store/offers', '/nowhere'])(
    'answers %s like GET, without a body',
    async (path) => {
      const [head, get] = await Promise.all(
        ['HEAD', 'GET'].map((method) => rawRequest(shop.url, method, `/api/v1${path}`))
      )
      expect(head?.status).toBe(get?.status)
      expect(head?.body).toBe('')
      expect(get?.body).not.toBe('')
      for (const name of ['content-type', 'cache-control', 'etag'])
        expect(head?.headers.get(name)).toBe(get?.headers.get(name))
    }
  )

  it('is refused where only POST is allowed', async () => {
    const answer = await rawRequest(shop.url, 'HEAD', '/api/v1/auth/login')
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('an unexpected error', () => {
  it('is 500 without its cause in the response, and with all of it in the log under the request id', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email: 'unlucky@example.com' })
    shop.app.db.sqlite.exec('ALTER TABLE registration_profiles RENAME TO elsewhere')
    try {
      const { status, error, meta, text } = await visitor.get('/me')
      expect([status, error.code, error.details]).toEqual([500, 'INTERNAL_SERVER_ERROR', {}])
      expect(text).not.toMatch(/sql|table|elsewhere|profile|at .*\.ts/i)
      const line = lines.find(({ level, fields }) => level === 'error' && fields['requestId'] === meta?.['request_id'])
      expect(line?.fields['error']).toContain('no such table')
      expect(line?.fields['stack']).toContain('.ts:')
    } finally {
      shop.app.db.sqlite.exec('ALTER TABLE elsewhere RENAME TO registration_profiles')
    }
    expect((await visitor.get('/me')).status).toBe(200)
  })
})

describe('the log', () => {
  it('has one line for each request, without its query, cookies and body', async () => {
    lines.length = 0
    const visitor = shop.visitor()
    await visitor.post('/auth/login?secret=1', { email: 'nobody@example.com', password: 'not-for-the-log' })
    const requests = lines.filter(({ message }) => message === 'request')
    expect(requests).toHaveLength(1)
    expect(requests[0]?.fields).toMatchObject({ method: 'POST', path: '/auth/login', status: 401 })
    expect(JSON.stringify(lines)).not.toMatch(/not-for-the-log|secret|nobody@/)
  })
})
