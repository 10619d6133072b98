import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawRequest } from '../support/raw-http.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ seed: null })
})
afterAll(() => shop.stop())

async function code(method: string, target: string): Promise<[number, string]> {
  const { status, body } = await rawRequest(shop.url, method, target)
  return [status, JSON.parse(body).error?.code]
}

describe('a path, which is matched exactly as it was sent', () => {
  it.each([
    '/api/v1//health',
    '/api/v1/health/',
    '/api/v1/health//',
    '/api/v1/Health',
    '/api/v1/HEALTH',
    '/api/v1/%68ealth',
    '/api/v1/health%20',
    '/api/v1/health%00',
    '/api/v1/health%2f',
    '/api/v1%2fhealth',
    '/api/v1/auth%2flogin',
    '/api/v1/auth%2Flogin',
    '/api/v1/health;',
    '/api/v1/health;a=1',
    '/api/v1;/health',
    '/api/v1/./health',
    '/api/v1/me/../health',
    '/api/v1/%2e/health',
    '/api/v1/auth/..%2fhealth',
    '/api/v1/health#',
    '/api/v1/health\\',
    '/api/v1\\health',
    '/API/v1/health',
    '/api/V1/health',
    '//api/v1/health',
    '/./api/v1/health',
    '/x/../api/v1/health',
    '/api/v1/',
    '/api/v1',
    '/api/v2/health',
    '/api/v1/__proto__',
    '/api/v1/constructor',
    '/api/v1/health/:id',
    '/api/v1/*',
    '/api/v1/**'
  ])('is not found: %s', async (target) => {
    expect(await code('GET', target)).toEqual([404, 'NOT_FOUND'])
  })

  it('is found with any query, or an empty one', async () => {
    for (const target of ['/api/v1/health?', '/api/v1/health?a=b', '/api/v1/health?/../x;y']) {
      expect((await rawRequest(shop.url, 'GET', target)).status).toBe(200)
    }
  })

  it('is not repeated in the error', async () => {
    const { body } = await rawRequest(shop.url, 'GET', '/api/v1/<script>alert(1)</script>', ['X-Host: evil.example'])
    const { error } = JSON.parse(body) as { error: unknown }
    expect(error).toMatchObject({ code: 'NOT_FOUND' })
    expect(JSON.stringify(error)).not.toMatch(/script|evil|localhost|127/)
  })
})

describe('a method that a path does not support', () => {
  it.each([
    ['/health', 'POST', 'GET, HEAD'],
    ['/health', 'OPTIONS', 'GET, HEAD'],
    ['/health', 'TRACE', 'GET, HEAD'],
    ['/health', 'PROPFIND', 'GET, HEAD'],
    ['/nonce', 'POST', 'GET, HEAD'],
    ['/store/offers', 'DELETE', 'GET, HEAD'],
    ['/orders', 'PUT', 'GET, HEAD'],
    ['/affiliates/referrals', 'POST', 'GET, HEAD'],
    ['/auth/login', 'GET', 'POST'],
    ['/auth/register', 'OPTIONS', 'POST'],
    ['/auth/register', 'PUT', 'POST'],
    ['/store/checkout-session', 'GET', 'POST'],
    ['/me', 'POST', 'GET, HEAD, PATCH'],
    ['/me', 'OPTIONS', 'GET, HEAD, PATCH']
  ])('is 405 with the supported methods for %s %s', async (path, method, allow) => {
    const { status, headers, body } = await rawRequest(shop.url, method, `/api/v1${path}`)
    expect([status, headers.get('allow')]).toEqual([405, allow])
    expect(JSON.parse(body).error).toMatchObject({ code: 'METHOD_NOT_ALLOWED', details: {} })
  })

  it('is refused before nonce and session are checked', async () => {
    const visitor = shop.visitor({ 'sec-fetch-site': 'cross-site' })
    expect((await visitor.send('DELETE', '/auth/register', undefined)).status).toBe(405)
    expect((await visitor.send('PUT', '/me', undefined)).status).toBe(405)
  })

  it('is not found at an unknown path', async () => {
    expect(await code('OPTIONS', '/api/v1/nowhere')).toEqual([404, 'NOT_FOUND'])
  })
})

describe('other origins', () => {
  it('get no header that lets their pages read a response', async () => {
    const headers = ['Origin: https://evil.example', 'Access-Control-Request-Method: POST']
    for (const [method, path, status] of [
      ['GET', '/health', 200],
      ['GET', '/nonce', 200],
      ['OPTIONS', '/auth/login', 405],
      ['POST', '/auth/login', 403]
    ] as const) {
      const answer = await rawRequest(shop.url, method, `/api/v1${path}`, headers)
      expect([path, answer.status]).toEqual([path, status])
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
  })
})
