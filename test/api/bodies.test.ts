import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Answer } from '../support/browser.ts'
import { rawRequest } from '../support/raw-http.ts'
import { undescribed } from '../support/described.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop()
  setSetting(shop.app.db, 'limits.login_ip', 'off', 0)
  setSetting(shop.app.db, 'limits.login_account', 'off', 0)
})
afterAll(() => shop.stop())

type Refusal = [status: number, code: string, fields: string[]]

function refusal({ status, error }: Answer<unknown>): Refusal {
  return [status, error.code, Object.keys(error.details['fieldErrors'] ?? {})]
}

async function login(body: string, headers: Record<string, string> = {}): Promise<Answer> {
  return shop.visitor().post('/auth/login', body, headers)
}

async function registering(body: unknown): Promise<Answer> {
  const visitor = shop.visitor()
  return visitor.post('/auth/register', body, { 'x-nonce': await visitor.nonce() })
}

describe('a body', () => {
  it.each([
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
    'text/json'
  ])('is 415 with the type %j', async (type) => {
    const { status, error } = await login('{}', { 'content-type': type })
    expect([status, error.code, error.details]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE', {}])
  })

  it.each(['gzip', 'br', 'gzip, identity'])('is 415 with the encoding %j, which is not read', async (encoding) => {
    const { status, error, headers } = await login('{}', { 'content-encoding': encoding })
    expect([status, error.code, headers.get('accept-encoding')]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE', 'identity'])
  })

  it('is read with the encoding identity', async () => {
    expect((await login('{}', { 'content-encoding': 'identity' })).status).toBe(400)
  })

  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"'
  ])('is read with the type %j', async (type) => {
    expect((await login('{}', { 'content-type': type })).status).toBe(400)
  })

  it('is 413 above 64 KiB, whatever it contains, and is read up to 64 KiB', async () => {
    const limit = 64 * 1024
    expect((await login(' '.repeat(limit))).status).toBe(400)
    const { status, error } = await login(' '.repeat(limit + 1))
    expect([status, error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    const over = await login('x'.repeat(limit * 4), { 'content-type': 'text/plain' })
    expect([over.status, over.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  })

  it('is 413 when its chunks exceed the limit, and the next request is answered', async () => {
    const chunk = `ffff\r\n${'a'.repeat(0xffff)}\r\n`
    const answer = await rawRequest(shop.url, 'POST', '/api/v1/auth/login', [
      'Transfer-Encoding: chunked',
      `Content-Type: application/json\r\n\r\n${chunk}${chunk}0`
    ])
    expect(answer.status).toBe(413)
    expect((await shop.visitor().get('/health')).status).toBe(200)
  })

  it('counts as {} when it is empty, whatever its type', async () => {
    for (const type of ['text/plain', 'application/json', '']) {
      const answer = await login('', { 'content-type': type })
      expect(refusal(answer)).toEqual([400, 'VALIDATION_FAILED', ['password', 'username', 'email']])
    }
    const none = await rawRequest(shop.url, 'POST', '/api/v1/auth/login')
    expect(JSON.parse(none.body).error.code).toBe('VALIDATION_FAILED')
    expect((await shop.visitor().post('/auth/logout')).status).toBe(200)
  })

  it.each([
    '{',
    '{"email":}',
    'null',
    '[]',
    '"text"',
    '7',
    "{'a':1}",
    '{"a":1}{"b":2}',
    '{"a":01}',
    '{"a":NaN}',
    '\ud800'
  ])("is VALIDATION_FAILED with the endpoint's own status when it is not a JSON object: %j", async (body) => {
    expect(refusal(await login(body))).toEqual([400, 'VALIDATION_FAILED', ['_body']])
    expect(refusal(await registering(body))).toEqual([422, 'VALIDATION_FAILED', ['_body']])
    expect(refusal(await shop.visitor().post('/auth/verify-email', body))).toEqual([
      422,
      'VALIDATION_FAILED',
      ['_body']
    ])
    expect(refusal(await shop.visitor().post('/store/checkout-session', body))).toEqual([
      422,
      'VALIDATION_FAILED',
      ['_body']
    ])
  })

  it.each([
    ['{"__proto__":{"isAdmin":true}}', '__proto__'],
    ['{"email":"a@b.example","constructor":{}}', 'constructor'],
    ['{"a":{"b":[{"__proto__":1}]}}', 'a.b.0.__proto__'],
    ['{"a":1e999}', 'a'],
    ['{"a":9007199254740993}', 'a'],
    [`${'{"a":'.repeat(13)}1${'}'.repeat(13)}`, Array.from({ length: 12 }, () => 'a').join('.')],
    ['{"email":"a@b.example","email":"c@d.example"}', '_body'],
    ['{"email":"\\ud800"}', 'email']
  ])('rejects %s on its path', async (body, field) => {
    expect(refusal(await login(body))).toEqual([400, 'VALIDATION_FAILED', [field]])
  })

  it('is read with a byte order mark', async () => {
    expect(refusal(await login('\uFEFF{"username":"x"}'))).toEqual([400, 'VALIDATION_FAILED', ['password']])
  })

  it('is refused with unknown fields, which are named', async () => {
    const answer = await registering({ email: 'mallory@example.com', isAdmin: true, roles: ['administrator'], id: 77 })
    expect(refusal(answer)).toEqual([422, 'VALIDATION_FAILED', expect.arrayContaining(['isAdmin', 'roles', 'id'])])
  })
})

describe('an error about fields', () => {
  it('names every invalid field in one response, and repeats no value', async () => {
    const marker = 'never-to-be-repeated'
    const { status, error, text } = await registering({
      email: `${marker} @ nowhere`,
      password: [marker],
      displayName: { name: marker },
      acceptTerms: marker,
      firstName: 7,
      lastName: [marker],
      marketingOptIn: marker,
      termsAcceptedAt: marker,
      privacyAcceptedAt: marker
    })
    expect([status, error.code]).toEqual([422, 'VALIDATION_FAILED'])
    const fields = error.details['fieldErrors'] as Record<string, string[]>
    expect(Object.keys(fields).toSorted()).toEqual(
      [
        'acceptTerms',
        'displayName',
        'email',
        'firstName',
        'lastName',
        'marketingOptIn',
        'password',
        'privacyAcceptedAt',
        'termsAcceptedAt'
      ].toSorted()
    )
    for (const messages of Object.values(fields)) {
      expect(messages.length).toBeGreaterThan(0)
      for (const message of messages) expect(message).toMatch(/^[A-Z].*\.$/)
    }
    expect(text).not.toContain(marker)
  })

  it('lists at most twenty fields', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`unknown${index}`, 1]))
    const visitor = shop.visitor()
    await visitor.register({ email: 'many@example.com' })
    const patched = await visitor.send('PATCH', '/me', many)
    expect(refusal(patched)).toEqual([
      422,
      'VALIDATION_FAILED',
      expect.toSatisfy((fields: string[]) => fields.length === 20)
    ])
    const query = Array.from({ length: 50 }, (_, index) => `user${index}=1`).join('&')
    const asked = await visitor.get(`/affiliates/referrals?${query}`)
    expect(refusal(asked)[2]).toHaveLength(20)
  })

  it('shortens a long name that a client invented', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email: 'long@example.com' })
    const name = `user${'n'.repeat(5000)}`
    for (const answer of [
      await visitor.send('PATCH', '/me', { [name]: 1 }),
      await visitor.get(`/affiliates/referrals?${name}=1`)
    ]) {
      expect(answer.error.code).toBe('VALIDATION_FAILED')
      expect(answer.text.length).toBeLessThan(1000)
    }
  })
})

describe('a query', () => {
  it.each([
    '1e3',
    '0x10',
    '+5',
    '',
    '-1',
    '0',
    '1.0',
    ' 1',
    '١',
    '1,000',
    'Infinity',
    '1000001',
    '99999999999999999999'
  ])('rejects the page %j', async (page) => {
    const answer = await shop.visitor().get(`/store/offers?page=${encodeURIComponent(page)}`)
    expect(refusal(answer)).toEqual([400, 'VALIDATION_FAILED', ['page']])
  })

  it("is rejected with a repeated parameter that the endpoint reads, with the endpoint's own status", async () => {
    const visitor = shop.visitor()
    await visitor.register({ email: 'twice@example.com' })
    expect(refusal(await visitor.get('/store/offers?page=1&page=1'))).toEqual([400, 'VALIDATION_FAILED', ['page']])
    expect(refusal(await visitor.get('/orders?page=1&p%61ge=2'))).toEqual([400, 'VALIDATION_FAILED', ['page']])
    expect((await visitor.get('/me?x=1&x=1')).status).toBe(200)
    expect(refusal(await visitor.get('/affiliates/referrals?limit=1&limit=1'))).toEqual([
      422,
      'VALIDATION_FAILED',
      ['limit']
    ])
    expect(refusal(await visitor.post('/store/checkout-session?ref=a&ref=b', { items: [] }))[2]).toEqual(['ref'])
  })

  it('is accepted with unknown parameters, except one that names a person for referrals', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email: 'unknown@example.com' })
    for (const path of ['/me?fields=all', '/orders?userId=1', '/store/offers?__proto__=1', '/nonce?a', '/health?x=y']) {
      expect([path, (await visitor.get(path)).status]).toEqual([path, 200])
    }
    expect(refusal(await visitor.get('/affiliates/referrals?userId=1'))).toEqual([422, 'VALIDATION_FAILED', ['userId']])
  })
})

it('rejects a body by its size on endpoints without a body, as the description says', async () => {
  for (const path of ['/nonce', '/store/offers', '/health']) {
    const url = `${shop.apiRoot}${path}`
    const { status, headers, body } = await rawRequest(url, 'GET', new URL(url).pathname, [], 'x'.repeat(65_537))
    expect([
      path,
      status,
      undescribed('GET', path, { status, headers: new Headers([...headers]), body: JSON.parse(body) })
    ]).toEqual([path, 413, []])
  }
})
