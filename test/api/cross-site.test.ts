import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/api/routes.ts'
import { rawRequest } from '../support/raw-http.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const publicUrl = 'https://shop.example'
let shop: RunningShop
let development: RunningShop
beforeAll(async () => {
  const env = { SHOPSTEAD_PUBLIC_URL: publicUrl, SHOPSTEAD_ORIGINS: 'https://www.shop.example,http://127.0.0.1:5173' }
  shop = await startShop({ seed: null, env })
  development = await startShop({ seed: null, env: { SHOPSTEAD_ENV: 'development' } })
})
afterAll(async () => {
  await shop.stop()
  await development.stop()
})

/** The reason of a refusal; undefined when the request was let through. */
async function refused(headers: readonly string[], at = shop, path = '/api/v1/auth/logout', method = 'POST') {
  const { body } = await rawRequest(at.url, method, path, headers)
  const { error } = JSON.parse(body) as { error?: { code: string; details: { reason?: string } } }
  return error?.details.reason === 'cross_site' ? error.code : undefined
}

const passes = undefined
const fails = 'CSRF_FAILED'

describe('a request that changes something', () => {
  it.each([
    ['nothing said, as a program does', [], passes],
    ['same-origin', ['Sec-Fetch-Site: same-origin'], passes],
    ['none: typed or a bookmark', ['Sec-Fetch-Site: none'], passes],
    ['same-origin, whatever Origin says', ['Sec-Fetch-Site: same-origin', 'Origin: https://evil.example'], passes],
    ['cross-site', ['Sec-Fetch-Site: cross-site'], fails],
    ['cross-site with our own Origin', ['Sec-Fetch-Site: cross-site', `Origin: ${publicUrl}`], fails],
    ['same-site without Origin', ['Sec-Fetch-Site: same-site'], fails],
    ['same-site from the site', ['Sec-Fetch-Site: same-site', 'Origin: https://www.shop.example'], passes],
    ['same-site from a neighbour', ['Sec-Fetch-Site: same-site', 'Origin: https://blog.shop.example'], fails],
    ['a value nobody sends', ['Sec-Fetch-Site: whatever'], fails],
    ['an empty value', ['Sec-Fetch-Site: '], fails],
    ['two values', ['Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site'], fails],
    ['the public URL', [`Origin: ${publicUrl}`], passes],
    ['the public URL on plain http', ['Origin: http://shop.example'], fails],
    ['the public URL on another port', ['Origin: https://shop.example:8443'], fails],
    ['an origin that is configured', ['Origin: http://127.0.0.1:5173'], passes],
    ['another loopback port', ['Origin: http://127.0.0.1:5174'], fails],
    ['a subdomain', ['Origin: https://a.shop.example'], fails],
    ['a name that begins alike', ['Origin: https://shop.example.evil.example'], fails],
    ['a name that ends alike', ['Origin: https://evilshop.example'], fails],
    ['null, as from a sandboxed frame', ['Origin: null'], fails],
    ['empty', ['Origin: '], fails],
    ['no origin of the web', ['Origin: file://'], fails],
    ['with a path', ['Origin: https://shop.example/'], fails],
    ['with a user', ['Origin: https://shop.example@evil.example'], fails],
    ['two of them', [`Origin: ${publicUrl}`, 'Origin: https://evil.example'], fails]
  ])('%s', async (_what, headers, outcome) => {
    expect(await refused(headers)).toBe(outcome)
  })

  it('is accepted from the host that it was sent to', async () => {
    expect(await refused([`Origin: ${shop.url}`])).toBe(passes)
  })

  it('is refused on each such endpoint, before its nonce, its session and its body', async () => {
    for (const [method, path] of [
      ['POST', '/auth/register'],
      ['POST', '/auth/login'],
      ['POST', '/auth/logout'],
      ['POST', '/auth/verify-email'],
      ['POST', '/auth/resend-verification'],
      ['POST', '/auth/forgot-password'],
      ['POST', '/auth/reset-password'],
      ['POST', '/auth/change-password'],
      ['PATCH', '/me'],
      ['POST', '/store/checkout-session'],
      ['POST', '/affiliates/apply'],
      ['POST', '/affiliates/terms']
    ] as const) {
      expect([path, await refused(['Sec-Fetch-Site: cross-site'], shop, `/api/v1${path}`, method)]).toEqual([
        path,
        fails
      ])
    }
  })

  it('is refused by the proxy, too', async () => {
    expect(await refused(['Sec-Fetch-Site: cross-site'], shop, '/api/secure/auth/login')).toBe(fails)
  })

  it('is accepted as a webhook, which always comes from another site', async () => {
    const answer = await rawRequest(shop.url, 'POST', '/api/v1/webhooks/stripe', ['Sec-Fetch-Site: cross-site'], '{}')
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([400, 'WEBHOOK_SIGNATURE_INVALID'])
  })
})

describe('a request that only reads', () => {
  it('is answered from every origin', async () => {
    const { status } = await rawRequest(shop.url, 'GET', '/api/v1/health', [
      'Sec-Fetch-Site: cross-site',
      'Origin: https://evil.example'
    ])
    expect(status).toBe(200)
  })

  it('changes nothing in the database, with and without a session', async () => {
    const visitor = development.visitor()
    await visitor.register()
    const { sqlite } = development.app.db
    const before = sqlite.prepare('SELECT total_changes()').pluck().get()
    for (const { path } of routes.filter(({ method }) => method === 'GET')) {
      for (const someone of [visitor, development.visitor()]) await someone.get(path)
    }
    expect(sqlite.prepare('SELECT total_changes()').pluck().get()).toBe(before)
  })
})

describe('in development', () => {
  it.each(['http://localhost:5173', 'http://127.0.0.1:1', 'https://app.localhost', 'http://[::1]:5173'])(
    'accepts %s: a site under development has its own port',
    async (origin) => {
      expect(await refused([`Origin: ${origin}`], development)).toBe(passes)
      expect(await refused([`Origin: ${origin}`, 'Sec-Fetch-Site: same-site'], development)).toBe(passes)
      expect(await refused([`Origin: ${origin}`, 'Sec-Fetch-Site: cross-site'], development)).toBe(fails)
    }
  )

  it.each(['http://localhost.evil.example', 'http://127.0.0.1.evil.example', 'http://10.0.0.1'])(
    'refuses %s',
    async (origin) => {
      expect(await refused([`Origin: ${origin}`], development)).toBe(fails)
    }
  )
})
