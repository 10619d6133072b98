import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { setAdministrator, deactivateUser } from '../../src/shop/accounts/deactivate.ts'
import { write } from '../../src/platform/db/database.ts'
import { getUser } from '../../src/shop/accounts/find.ts'
import { rawRequest } from '../support/raw-http.ts'
import type { Browser } from '../support/browser.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'

const clock = testClock()
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const email = 'mira@shop.example'
const name = 'shopstead_session'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ seed: null, overrides: { clock } })
  await makeUser(shop.app)
})
afterAll(() => shop.stop())

async function loggedIn(rememberMe = false, who = email): Promise<Browser> {
  const visitor = shop.visitor()
  const { status } = await visitor.post('/auth/login', { email: who, password: goodPassword, rememberMe })
  expect(status).toBe(200)
  return visitor
}

async function status(visitor: Browser): Promise<number> {
  return (await visitor.get('/me')).status
}

describe('a session', () => {
  it('is required by /me, orders, referrals, downloads and the affiliate account', async () => {
    for (const path of [
      '/me',
      '/orders',
      '/affiliates/referrals',
      '/affiliates/me',
      '/affiliates/stats',
      '/me/downloads'
    ]) {
      const { status, error } = await shop.visitor().get(path)
      expect([path, status, error.code, error.details]).toEqual([path, 401, 'NOT_AUTHENTICATED', {}])
    }
    for (const [method, path] of [
      ['PATCH', '/me'],
      ['POST', '/auth/change-password'],
      ['POST', '/affiliates/apply']
    ] as const) {
      const { status, error } = await shop.visitor().send(method, path, {})
      expect([path, status, error.code]).toEqual([path, 401, 'NOT_AUTHENTICATED'])
    }
  })

  it('gets a new token at each login, and never a token that the client sent (fixation)', async () => {
    const visitor = shop.visitor()
    const planted = 'A'.repeat(43)
    visitor.cookies.set(name, planted)
    await visitor.post('/auth/login', { email, password: goodPassword })
    const first = visitor.cookies.get(name)
    expect(first).not.toBe(planted)
    await visitor.post('/auth/login', { email, password: goodPassword })
    const second = visitor.cookies.get(name)
    expect(second).not.toBe(first)
    visitor.cookies.set(name, first ?? '')
    expect(await status(visitor)).toBe(401)
    visitor.cookies.set(name, planted)
    expect(await status(visitor)).toBe(401)
  })

  it('does not end when a login fails', async () => {
    const visitor = await loggedIn()
    await visitor.post('/auth/login', { email, password: 'wrong' })
    expect(await status(visitor)).toBe(200)
  })

  it('ends 24 hours after its last use', async () => {
    const visitor = await loggedIn()
    clock.advance(dayMs - 1)
    expect(await status(visitor)).toBe(200)
    clock.advance(dayMs)
    expect(await status(visitor)).toBe(401)
  })

  it('with rememberMe ends 14 days after its last use, and 30 days after its start', async () => {
    const [idle, busy] = [await loggedIn(true), await loggedIn(true)]
    clock.advance(13 * dayMs)
    expect(await status(busy)).toBe(200)
    clock.advance(dayMs)
    expect([await status(idle), await status(busy)]).toEqual([401, 200])
    clock.advance(10 * dayMs)
    expect(await status(busy)).toBe(200)
    clock.advance(6 * dayMs - 1)
    expect(await status(busy)).toBe(200)
    clock.advance(1)
    expect(await status(busy)).toBe(401)
  })

  it('is one of at most a hundred of its user; the least recently used one ends', async () => {
    setSetting(shop.app.db, 'limits.login_ip', 'off', 0)
    const first = await loggedIn()
    clock.advance(60_000)
    const second = await loggedIn()
    for (let count = 2; count < 100; count += 1) {
      clock.advance(60_000)
      await loggedIn()
    }
    clock.advance(60_000)
    expect(await status(first)).toBe(200)
    await loggedIn()
    expect([await status(first), await status(second)]).toEqual([200, 401])
  })

  it('ends everywhere when the password changes, and continues here under a new token', async () => {
    const who = 'petra@shop.example'
    await makeUser(shop.app, { email: who })
    const [here, there] = [await loggedIn(true, who), await loggedIn(false, who)]
    const before = here.cookies.get(name)
    const changed = await here.post('/auth/change-password', {
      currentPassword: goodPassword,
      newPassword: 'granite-willow-71'
    })
    expect([changed.status, changed.data]).toEqual([200, { changed: true }])
    expect(changed.headers.getSetCookie()[0]).toContain('Max-Age=2592000')
    expect(here.cookies.get(name)).not.toBe(before)
    expect([await status(here), await status(there)]).toEqual([200, 401])
    here.cookies.set(name, before ?? '')
    expect(await status(here)).toBe(401)
  })

  it('ends with the account, and when administrator is granted or revoked; other roles are read live', async () => {
    const who = 'jonas@shop.example'
    const { id } = await makeUser(shop.app, { email: who })
    let visitor = await loggedIn(false, who)
    for (const isAdmin of [true, false]) {
      write(shop.app.db, (tx) => void setAdministrator(tx, id, isAdmin, clock.now()))
      expect(await status(visitor)).toBe(401)
      visitor = await loggedIn(false, who)
      expect((await visitor.get('/me')).data).toMatchObject({
        flags: { isAdmin },
        roles: isAdmin
          ? { wpRoles: ['customer', 'administrator'], serviceRoles: ['admin'] }
          : { wpRoles: ['customer'], serviceRoles: [] }
      })
    }
    write(shop.app.db, (tx) => void deactivateUser(tx, getUser(tx, who).id, clock.now()))
    expect(await status(visitor)).toBe(401)
  })
})

describe('the session cookie', () => {
  it('is ignored when it is sent twice with different values, in one header or two', async () => {
    const token = (await loggedIn()).cookies.get(name) ?? ''
    const get = (...cookies: string[]) =>
      rawRequest(
        shop.url,
        'GET',
        '/api/v1/me',
        cookies.map((cookie) => `Cookie: ${cookie}`)
      ).then((answer) => answer.status)
    expect(await get(`${name}=${token}`)).toBe(200)
    expect(await get(`a=b; ${name}=${token}; c=d`)).toBe(200)
    expect(await get(`${name}=${token}; ${name}=${token}`)).toBe(200)
    expect(await get(`${name}=${token}; ${name}=x`)).toBe(401)
    expect(await get(`${name}=${token}`, `${name}=x`)).toBe(401)
    expect(await get(`${name}=; ${name}=${token}`)).toBe(401)
  })

  it.each(['', 'x', "' OR 1=1 --", 'A'.repeat(43), 'A'.repeat(10_000), '%00', '"quoted"'])(
    'is ignored when it contains %s',
    async (token) => {
      const answer = await rawRequest(shop.url, 'GET', '/api/v1/me', [`Cookie: ${name}=${token}`])
      expect(answer.status).toBe(401)
    }
  )

  it('is read only under its exact name', async () => {
    const token = (await loggedIn()).cookies.get(name) ?? ''
    for (const other of ['Shopstead_Session', `__Host-${name}`, `x${name}`, `${name}2`, '']) {
      const answer = await rawRequest(shop.url, 'GET', '/api/v1/me', [`Cookie: ${other}=${token}`])
      expect([other, answer.status]).toEqual([other, 401])
    }
  })

  it('is stored only as a hash', async () => {
    const token = (await loggedIn()).cookies.get(name) ?? ''
    const rows = shop.app.db.sqlite.prepare('SELECT * FROM sessions').all()
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(token)
  })
})

describe('behind https', () => {
  it('sets a __Host- cookie that is Secure, and accepts no other', async () => {
    const secure = await startShop({ seed: null, env: { SHOPSTEAD_PUBLIC_URL: 'https://shop.example' } })
    try {
      const visitor = secure.visitor()
      const registered = await visitor.register()
      expect(registered.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^__Host-shopstead_session=[\w-]{43}; Path=\/; SameSite=Lax; HttpOnly; Secure$/),
        expect.stringMatching(/^__Host-shopstead_device=\S+; Path=\/; SameSite=Lax; Max-Age=\d+; HttpOnly; Secure$/)
      ])
      expect((await visitor.get('/me')).status).toBe(200)
      const token = visitor.cookies.get('__Host-shopstead_session') ?? ''
      const remembered = await visitor.post('/auth/login', {
        username: 'ada',
        password: 'tidal-basalt-93',
        rememberMe: true
      })
      expect(remembered.headers.getSetCookie()[0]).toMatch(/; Max-Age=2592000; HttpOnly; Secure$/)
      const plain = secure.visitor()
      plain.cookies.set(name, token)
      expect((await plain.get('/me')).status).toBe(401)
      const out = await visitor.post('/auth/logout')
      expect(out.headers.getSetCookie()).toEqual([
        '__Host-shopstead_session=; Path=/; SameSite=Lax; Max-Age=0; HttpOnly; Secure'
      ])
    } finally {
      await secure.stop()
    }
  })
})
