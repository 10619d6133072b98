import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/api/routes.ts'
import { filledPath } from '../support/filled-path.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Answer, Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
let visitor: Browser
let nonce = ''
beforeAll(async () => {
  shop = await startShop()
  for (const bucket of ['register_ip', 'register_email', 'login_ip', 'login_account', 'token_ip'] as const) {
    setSetting(shop.app.db, `limits.${bucket}`, 'off', 0)
  }
  visitor = shop.visitor()
  await visitor.register()
  nonce = await visitor.nonce()
})
afterAll(() => shop.stop())

/** What the endpoints ask for, so that many a made-up body gets past the first check. */
const fieldNames = [
  'email',
  'username',
  'password',
  'displayName',
  'acceptTerms',
  'firstName',
  'marketingOptIn',
  'termsAcceptedAt',
  'rememberMe',
  'token',
  'currentPassword',
  'newPassword',
  'billingEmail',
  'items',
  'productId',
  'quantity',
  'customer',
  'couponCode',
  'returnUrl',
  'strategy',
  'website',
  'version',
  '__proto__',
  'constructor',
  'toString'
]
const likely = [true, null, '', 'ada@example.com', 'tidal-basalt-93', '2026-01-15', 'https://a.example', 1, 50, -1, 1.5]
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...likely),
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.double(),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...fieldNames), tie('any'), { maxKeys: 6 })
  )
})).any
const body = fc.dictionary(fc.constantFrom(...fieldNames), value, { maxKeys: 10 })
const query = fc.array(
  fc.tuple(
    fc.constantFrom(
      'page',
      'perPage',
      'category',
      'search',
      'available',
      'sort',
      'limit',
      'cursor',
      'ref',
      'utm_source',
      '__proto__'
    ),
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom('1', '100', '%', 'a'),
      fc.integer().map(String)
    )
  ),
  { maxLength: 4 }
)

function target(path: string, pairs: readonly (readonly [string, string])[]): string {
  const written = pairs.map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`)
  return `${path}?${written.join('&')}`
}

/** Every request gets an envelope and no server error (docs/contract.md 2.1). */
function expectEnvelope(answer: Answer<unknown>, sent: string): void {
  const { status, error } = answer
  expect([sent, status < 500 ? 'fine' : `${status} ${error.code}`]).toEqual([sent, 'fine'])
  if (status >= 400) expect(Object.keys(error)).toEqual(['code', 'message', 'details'])
  expect(answer.headers.get('x-request-id')).toBeTruthy()
}

describe('whatever is sent', () => {
  const changing = routes.filter(({ method, path }) => method !== 'GET' && path !== '/auth/logout')
  it.each(changing.map(({ method, path }) => [method, path] as const))(
    'to %s %s, it is answered and nothing breaks',
    async (method, path) => {
      await fc.assert(
        fc.asyncProperty(body, fc.array(query, { maxLength: 1 }), async (sent, [pairs = []]) => {
          const to = target(filledPath(path), pairs)
          const answer = await visitor.send(method, to, JSON.stringify(sent), { 'x-nonce': nonce })
          expectEnvelope(answer, `${to} ${JSON.stringify(sent)}`)
        }),
        { numRuns: 20 }
      )
    }
  )

  const reading = routes.filter(({ method }) => method === 'GET')
  it.each(reading.map(({ path }) => path))('to GET %s, it is answered and nothing breaks', async (path) => {
    await fc.assert(
      fc.asyncProperty(query, async (pairs) => {
        const to = target(filledPath(path), pairs)
        expectEnvelope(await visitor.get(to), to)
      }),
      { numRuns: 20 }
    )
  })

  it('as bytes, it is answered and nothing breaks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
        const response = await visitor.fetch(`${shop.apiRoot}/auth/login`, {
          method: 'POST',
          body: bytes,
          headers: { 'content-type': 'application/json' }
        })
        expect([400, 401]).toContain(response.status)
      }),
      { numRuns: 40 }
    )
  })
})
