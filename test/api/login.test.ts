import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { deactivateUser } from '../../src/shop/accounts/deactivate.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Answer } from '../support/browser.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { expectNames, freshEntitlements, freshFlags, isoTime, standardMeta } from './shapes.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ seed: null })
  setSetting(shop.app.db, 'limits.login_ip', 'off', 0)
  setSetting(shop.app.db, 'limits.login_account', 'off', 0)
  await makeUser(shop.app)
})
afterAll(() => shop.stop())

const email = 'mira@shop.example'

function login(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return shop.visitor().post('/auth/login', body, headers)
}

function refusal({ status, error }: Answer): [number, string] {
  return [status, error.code]
}

describe('a login', () => {
  it('answers 200 with exactly user, flags, entitlements and next', async () => {
    const answer = await login({ email, password: goodPassword })
    expect(answer.status).toBe(200)
    expect(answer.data).toStrictEqual({
      user: { id: 1, email, displayName: 'Mira Okafor', roles: ['customer'], createdAt: isoTime },
      flags: freshFlags(true),
      entitlements: freshEntitlements(true),
      next: '/api/v1/me'
    })
    expectNames(answer.meta, standardMeta)
  })

  it.each([
    { username: 'mira' },
    { username: ' MIRA ' },
    { username: email },
    { username: 'Mira@Shop.Example' },
    { email: ' MIRA@shop.example ' },
    { username: 'nobody', email },
    { username: null, email },
    { username: '', email },
    { username: 'mira', email: '' },
    { username: 'mira', email: null }
  ])('accepts %j', async (who) => {
    expect((await login({ ...who, password: goodPassword })).status).toBe(200)
  })

  it('uses the email when both are sent', async () => {
    const answer = await login({ username: 'mira', email: 'nobody@shop.example', password: goodPassword })
    expect(refusal(answer)).toEqual([401, 'AUTH_INVALID_CREDENTIALS'])
  })

  it('does not look for a username in email', async () => {
    expect(refusal(await login({ email: 'mira', password: goodPassword }))).toEqual([401, 'AUTH_INVALID_CREDENTIALS'])
  })

  it.each([
    [undefined, null],
    [false, null],
    [null, null],
    [true, '2592000']
  ])('sets a cookie for rememberMe %s with Max-Age %s', async (rememberMe, maxAge) => {
    const { headers } = await login({ email, password: goodPassword, rememberMe })
    const [cookie = '', ...others] = headers.getSetCookie()
    expect(others).toEqual([expect.stringMatching(/^shopstead_device=/)])
    expect(/Max-Age=(\d+)/.exec(cookie)?.[1] ?? null).toBe(maxAge)
    expect(cookie).not.toMatch(/expires|domain/i)
  })

  it("contains a path with the site's own prefix as `next`", async () => {
    const other = await startShop({ seed: null, env: { SHOPSTEAD_API_PREFIX: '/shop/api/v1' } })
    try {
      const visitor = other.visitor()
      expect((await visitor.register()).data['next']).toBe('/shop/api/v1/me')
      expect((await visitor.post('/auth/login', { username: 'ada', password: 'tidal-basalt-93' })).data['next']).toBe(
        '/shop/api/v1/me'
      )
      expect((await visitor.get(`${other.url}/api/v1/me`)).status).toBe(404)
    } finally {
      await other.stop()
    }
  })
})

describe('a refused login', () => {
  it.each([
    [{}, ['email', 'password', 'username']],
    [{ password: 'x' }, ['email', 'username']],
    [{ username: null, email: '', password: 'x' }, ['email', 'username']],
    [{ email }, ['password']],
    [{ email, password: '' }, ['password']],
    [{ email, password: 7 }, ['password']],
    [{ email, password: null }, ['password']],
    [{ email: ['x'], password: 'x' }, ['email']],
    [{ username: { $ne: null }, password: 'x' }, ['username']],
    [{ username: 'x'.repeat(255), password: 'x' }, ['username']],
    [{ email, password: 'x', rememberMe: 'yes' }, ['rememberMe']]
  ])('is 400 for %j', async (body, fields) => {
    const answer = await login(body)
    expect(refusal(answer)).toEqual([400, 'VALIDATION_FAILED'])
    expect(Object.keys(answer.error.details['fieldErrors'] ?? {}).toSorted()).toEqual(fields)
  })

  it('gets the same response for an unknown account, a wrong password and an erased account', async () => {
    const answers = await Promise.all([
      login({ email, password: 'wrong password' }),
      login({ email: 'nobody@shop.example', password: 'wrong password' }),
      login({ username: 'nobody', password: 'wrong password' }),
      login({ username: 'not @ all', password: 'wrong password' })
    ])
    const bodies = answers.map(({ status, error }) => JSON.stringify([status, error]))
    expect(new Set(bodies).size).toBe(1)
    expect(refusal(answers[0])).toEqual([401, 'AUTH_INVALID_CREDENTIALS'])
    expect(answers[0].error.details).toEqual({})
    expect(answers.flatMap(({ headers }) => headers.getSetCookie())).toEqual([])
  })

  it('reveals deactivation and verification only with the correct password, deactivation first', async () => {
    const closed = await makeUser(shop.app, { email: 'closed@shop.example' })
    const both = await makeUser(shop.app, { email: 'both@shop.example', verificationPending: true })
    await makeUser(shop.app, { email: 'waiting@shop.example', verificationPending: true })
    for (const { id } of [closed, both]) write(shop.app.db, (tx) => void deactivateUser(tx, id, 0))
    const right = (name: string) => login({ email: `${name}@shop.example`, password: goodPassword }).then(refusal)
    const wrong = (name: string) => login({ email: `${name}@shop.example`, password: 'wrong' }).then(refusal)
    expect(await right('closed')).toEqual([403, 'AUTH_ACCOUNT_DEACTIVATED'])
    expect(await right('both')).toEqual([403, 'AUTH_ACCOUNT_DEACTIVATED'])
    expect(await right('waiting')).toEqual([403, 'AUTH_EMAIL_NOT_VERIFIED'])
    for (const name of ['closed', 'both', 'waiting'])
      expect(await wrong(name)).toEqual([401, 'AUTH_INVALID_CREDENTIALS'])
  })

  it('is CSRF_FAILED without a nonce at the proxy, but not at the service', async () => {
    const visitor = shop.visitor()
    const path = `${shop.url}/api/secure/auth/login`
    const bare = await visitor.post(path, { email, password: goodPassword })
    expect([bare.status, bare.error.code, bare.error.details]).toEqual([
      403,
      'CSRF_FAILED',
      { reason: 'missing_nonce' }
    ])
    const odd = await visitor.post(path, { email, password: goodPassword }, { 'x-nonce': 'x' })
    expect([odd.status, odd.error.details]).toEqual([403, { reason: 'invalid_nonce' }])
    const good = await visitor.post(path, { email, password: goodPassword }, { 'x-nonce': await visitor.nonce() })
    expect(good.status).toBe(200)
    expect((await login({ email, password: goodPassword }, { 'x-nonce': 'x' })).status).toBe(200)
  })

  it('includes every GET, whatever its query contains', async () => {
    const answer = await shop.visitor().get(`/auth/login?email=${email}&password=${goodPassword}`)
    expect(refusal(answer)).toEqual([405, 'METHOD_NOT_ALLOWED'])
  })
})

describe('logout', () => {
  it('ends the session and clears its cookie', async () => {
    const visitor = shop.visitor()
    await visitor.post('/auth/login', { email, password: goodPassword })
    const cookie = visitor.cookies.get('shopstead_session') ?? ''
    const { status, data, headers } = await visitor.post('/auth/logout')
    expect([status, data]).toEqual([200, { loggedOut: true }])
    expect(headers.getSetCookie()).toEqual(['shopstead_session=; Path=/; SameSite=Lax; Max-Age=0; HttpOnly'])
    visitor.cookies.set('shopstead_session', cookie)
    expect(refusal(await visitor.get('/me'))).toEqual([401, 'NOT_AUTHENTICATED'])
  })

  it('is 200 without a session, and does not end other sessions of the person', async () => {
    expect((await shop.visitor().post('/auth/logout')).data).toEqual({ loggedOut: true })
    const [phone, desk] = [shop.visitor(), shop.visitor()]
    for (const visitor of [phone, desk]) await visitor.post('/auth/login', { email, password: goodPassword })
    await phone.post('/auth/logout')
    expect([(await phone.get('/me')).status, (await desk.get('/me')).status]).toEqual([401, 200])
  })
})
