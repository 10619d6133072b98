import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asSchema } from '../../src/api/description/fields.ts'
import type { Schema } from '../../src/api/description/fields.ts'
import { routes } from '../../src/api/routes.ts'
import { filledPath } from '../support/filled-path.ts'
import { messageFor } from '../../src/platform/http/validation.ts'
import { shopstead } from '../support/command-line.ts'
import { apiDocument, undescribed } from '../support/described.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import type { Browser } from '../support/browser.ts'

const catalog = {
  products: ['a', 'b', 'c'].map((slug) => ({ slug, name: slug, price: '10.00' })),
  coupons: [{ code: 'WELCOME10', percent: 10 }]
}
let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ seed: catalog })
})
afterAll(() => shop.stop())

type Operation = { method: string; path: string; is: Schema }

const operations: Operation[] = Object.entries(asSchema(apiDocument()['paths'])).flatMap(([path, item]) =>
  Object.entries(asSchema(item)).map(([method, is]) => ({ method: method.toUpperCase(), path, is: asSchema(is) }))
)

function mediaOf(carrier: unknown): Schema {
  return asSchema(asSchema(asSchema(carrier)['content'])['application/json'])
}

describe('the document', () => {
  it('is served by the shop, with its own address and cookie', async () => {
    const response = await fetch(`${shop.url}/openapi.json`)
    const document = (await response.json()) as Schema
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(document['openapi']).toBe('3.1.1')
    expect(document['servers']).toMatchObject([
      { url: `${shop.app.publicUrl()}/api/secure` },
      { url: `${shop.app.publicUrl()}/api/v1` }
    ])
    const components = asSchema(document['components'])
    expect(components['securitySchemes']).toMatchObject({
      session: { in: 'cookie', name: 'shopstead_session' },
      nonce: { in: 'header', name: 'X-Nonce' }
    })
    expect(Object.keys(asSchema(document['paths']))).toEqual(Object.keys(asSchema(apiDocument()['paths'])))
  })

  it('has every route, each with its responses, its errors and an example of its whole request', () => {
    expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      routes.map(({ method, path }) => `${method} ${path}`).toSorted()
    )
    for (const { method, path, is } of operations) {
      const route = routes.find((candidate) => candidate.method === method && candidate.path === path)
      const statuses = Object.keys(asSchema(is['responses']))
      expect([path, statuses.some((status) => status.startsWith('2'))]).toEqual([path, true])
      expect([path, statuses]).toEqual([path, expect.arrayContaining([String(route?.invalid), '500'])])
      expect([path, 'requestBody' in is]).toEqual([path, (route?.body ?? route?.rawBody) !== undefined])
      for (const carrier of Object.values(asSchema(is['responses']))) {
        const media = mediaOf(carrier)
        const carries = 'content' in asSchema(carrier)
        expect([path, 'example' in media || 'examples' in media]).toEqual([path, carries])
      }
    }
  })

  it('has each code of the interface with its status', () => {
    const codesAt = (path: string, method: string): string[] =>
      Object.entries(asSchema(asSchema(asSchema(asSchema(apiDocument()['paths'])[path])[method])['responses'])).flatMap(
        ([status, response]) => Object.keys(asSchema(mediaOf(response)['examples'])).map((code) => `${status} ${code}`)
      )
    // Typed by hand from the interface.
    const expected: [path: string, method: string, codes: string][] = [
      [
        '/auth/register',
        'post',
        '400 AUTH_REGISTRATION_FAILED, 400 PASSWORD_POLICY_VIOLATION, 403 AUTH_REGISTRATION_DISABLED, 403 CSRF_FAILED, 422 VALIDATION_FAILED, 429 AUTH_RATE_LIMITED, 500 INTERNAL_SERVER_ERROR'
      ],
      [
        '/auth/login',
        'post',
        '400 VALIDATION_FAILED, 401 AUTH_INVALID_CREDENTIALS, 403 AUTH_EMAIL_NOT_VERIFIED, 403 AUTH_ACCOUNT_DEACTIVATED, 403 CSRF_FAILED, 429 AUTH_RATE_LIMITED'
      ],
      ['/me', 'get', '401 NOT_AUTHENTICATED'],
      ['/orders', 'get', '401 NOT_AUTHENTICATED, 400 VALIDATION_FAILED'],
      ['/store/offers', 'get', '400 VALIDATION_FAILED, 503 DEPENDENCY_UNAVAILABLE'],
      ['/health', 'get', '405 METHOD_NOT_ALLOWED'],
      [
        '/affiliates/referrals',
        'get',
        '401 NOT_AUTHENTICATED, 403 AFFILIATE_NOT_ACTIVE, 403 AFFILIATE_TERMS_REQUIRED, 404 AFFILIATE_NOT_FOUND, 422 VALIDATION_FAILED, 500 CONFIG_INVALID_AFFILIATE_TERMS_VERSION, 500 UPSTREAM_UNAVAILABLE'
      ],
      [
        '/store/checkout-session',
        'post',
        '501 CHECKOUT_NOT_IMPLEMENTED, 403 CHECKOUT_DISABLED, 503 CHECKOUT_GATEWAY_NOT_CONFIGURED, 422 VALIDATION_FAILED, 402 CHECKOUT_FAILED, 502 CHECKOUT_FAILED, 504 CHECKOUT_FAILED, 403 CSRF_FAILED, 429 RATE_LIMITED, 401 NOT_AUTHENTICATED, 409 IDEMPOTENCY_KEY_REUSE_CONFLICT'
      ]
    ]
    for (const [path, method, codes] of expected) {
      expect(codesAt(path, method)).toEqual(expect.arrayContaining(codes.split(', ')))
    }
  })

  it('contains examples that match their schemas', () => {
    for (const { method, path, is } of operations) {
      for (const [status, carrier] of Object.entries(asSchema(is['responses']))) {
        const { example, examples } = mediaOf(carrier)
        const shown = Object.values(asSchema(examples)).map((entry) => asSchema(entry)['value'])
        for (const value of example === undefined ? shown : [example]) {
          expect(undescribed(method, filledPath(path), { status: Number(status), body: value })).toEqual([])
        }
      }
    }
  })

  it('contains bodies that their routes accept', () => {
    for (const { method, path, rawBody, body = rawBody } of routes) {
      const example = mediaOf(
        operations.find((operation) => operation.method === method && operation.path === path)?.is['requestBody']
      )['example']
      expect([path, body?.safeParse(example, { error: messageFor }).error?.issues]).toEqual([path, undefined])
    }
  })

  it('is printed by the command line without a shop', async () => {
    const env = { SHOPSTEAD_PUBLIC_URL: 'https://shop.test' }
    const { json: printed } = await shopstead('data', ['openapi', '--json'], { env })
    expect(printed['paths']).toEqual(JSON.parse(JSON.stringify(apiDocument()['paths'])))
  })
})

/** Each sends what the document tells of; the visitor holds every answer against it. */
describe.each(['without a session', 'with a session'] as const)('the document for requests %s', (who) => {
  let visitor: Browser
  let nonce: Record<string, string>
  beforeAll(async () => {
    visitor = shop.visitor()
    if (who === 'with a session') await visitor.register({ email: 'described@example.com' })
    nonce = { 'x-nonce': await visitor.nonce() }
  })

  it.each(operations.map(({ method, path, is }) => [method, path, is] as const))(
    'is correct for %s %s',
    async (method, template, is) => {
      const path = filledPath(template)
      const example = mediaOf(is['requestBody'])['example']
      const answers = [
        await visitor.send(method, path, example, nonce),
        await visitor.send(method, path, example),
        await visitor.send(method, `${path}?page=x&limit=0`, example, nonce),
        await visitor.send(method, `${path}?page=1&page=2`, example, nonce)
      ]
      if (method !== 'GET') {
        answers.push(
          await visitor.send(method, path, '{"a":', nonce),
          await visitor.send(method, path, [], nonce),
          await visitor.send(method, path, {}, nonce),
          await visitor.send(method, path, '{}', { ...nonce, 'content-type': 'text/plain' }),
          await visitor.send(method, path, { a: 'x'.repeat(300_000) }, nonce),
          await visitor.send(method, path, example, { ...nonce, 'sec-fetch-site': 'cross-site' })
        )
      }
      expect(answers.every(({ status }) => status < 500)).toBe(true)
    }
  )
})

it('contains examples that buy something', async () => {
  const visitor = shop.visitor()
  const example = mediaOf(operations.find(({ path }) => path === '/store/checkout-session')?.is['requestBody'])[
    'example'
  ]
  expect((await visitor.post('/store/checkout-session', example)).status).toBe(200)
})
