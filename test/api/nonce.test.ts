import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Answer, Browser } from '../support/browser.ts'
import { rawRequest } from '../support/raw-http.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'
import { expectNames, isoTime } from './shapes.ts'

const clock = testClock()
const hourMs = 3_600_000
let shop: RunningShop
let person = 0
beforeAll(async () => {
  shop = await startShop({ seed: null, overrides: { clock } })
})
afterAll(() => shop.stop())
beforeEach(() => void (person += 1))

const details = () => ({
  email: `person${person}@example.com`,
  password: 'tidal-basalt-93',
  displayName: 'Ada Quill',
  acceptTerms: true
})

function registerWith(visitor: Browser, nonce: string | null, fields: object = {}): Promise<Answer> {
  return visitor.post('/auth/register', { ...details(), ...fields }, nonce === null ? {} : { 'x-nonce': nonce })
}

/** What the first-party proxy makes of a nonce for a read of the session's own. */
function readMe(visitor: Browser, nonce: string): Promise<Answer> {
  return visitor.get(`${shop.url}/api/secure/me`, { 'x-nonce': nonce })
}

function refusal({ status, error }: Answer): [number, string, unknown] {
  return [status, error.code, error.details]
}

const missing = [403, 'CSRF_FAILED', { reason: 'missing_nonce' }]
const invalid = [403, 'CSRF_FAILED', { reason: 'invalid_nonce' }]

describe('GET /nonce', () => {
  it('answers exactly nonce, headerName, userLoggedIn false and user null without a session', async () => {
    const { status, data } = await shop.visitor().get('/nonce')
    expect(status).toBe(200)
    expect(data).toStrictEqual({ nonce: expect.any(String), headerName: 'X-Nonce', userLoggedIn: false, user: null })
  })

  it('contains the user without billing fields with a session', async () => {
    const visitor = shop.visitor()
    await visitor.register(details())
    await visitor.send('PATCH', '/me', { billingEmail: 'b@example.com', billingPhone: '1', companyName: 'Quill' })
    const { data } = await visitor.get<{ userId: number; user: { id: number } }>('/nonce')
    expect(data).toStrictEqual({
      nonce: expect.any(String),
      headerName: 'X-Nonce',
      userLoggedIn: true,
      userId: expect.any(Number),
      user: {
        id: data.userId,
        email: details().email,
        displayName: 'Ada Quill',
        roles: ['customer'],
        createdAt: isoTime
      }
    })
  })

  it('is anonymous after logout, and with a cookie without a session', async () => {
    const visitor = shop.visitor()
    await visitor.register(details())
    const cookie = visitor.cookies.get('shopstead_session') ?? ''
    await visitor.post('/auth/logout')
    visitor.cookies.set('shopstead_session', cookie)
    expectNames((await visitor.get('/nonce')).data, ['nonce', 'headerName', 'userLoggedIn', 'user'])
  })

  it('sets no cookie', async () => {
    const { status, headers } = await shop.visitor().get('/nonce')
    expect([status, headers.getSetCookie()]).toEqual([200, []])
  })
})

describe('the nonce of a registration', () => {
  it('is required and not empty', async () => {
    expect(refusal(await registerWith(shop.visitor(), null))).toEqual(missing)
    expect(refusal(await registerWith(shop.visitor(), ''))).toEqual(missing)
  })

  it('is checked before anything else', async () => {
    const answer = await shop.visitor().post('/auth/register', 'no json', { 'content-type': 'text/plain' })
    expect(refusal(answer)).toEqual(missing)
  })

  it.each(['x', '0'.repeat(80), 'null', 'A'.repeat(5000)])('is refused when it is %s', async (nonce) => {
    expect(refusal(await registerWith(shop.visitor(), nonce))).toEqual(invalid)
  })

  it('must be in exactly one header', async () => {
    const nonce = await shop.visitor().nonce()
    const answer = await rawRequest(
      shop.url,
      'POST',
      '/api/v1/auth/register',
      [`X-Nonce: ${nonce}`, `x-nonce: ${nonce}`, 'Content-Type: application/json'],
      JSON.stringify(details())
    )
    expect([answer.status, JSON.parse(answer.body).error.details]).toEqual([403, { reason: 'invalid_nonce' }])
  })

  it('is not read from the query, the body or a cookie', async () => {
    const visitor = shop.visitor()
    const nonce = await visitor.nonce()
    visitor.cookies.set('X-Nonce', nonce)
    const answer = await visitor.post(`/auth/register?nonce=${nonce}&X-Nonce=${nonce}`, { ...details(), nonce })
    expect(refusal(answer)).toEqual(missing)
  })

  it('can be used repeatedly for twelve hours', async () => {
    const nonce = await shop.visitor().nonce()
    expect((await registerWith(shop.visitor(), nonce)).status).toBe(201)
    expect((await registerWith(shop.visitor(), nonce, { email: 'again@example.com' })).status).toBe(201)
    clock.advance(12 * hourMs - 1)
    expect((await registerWith(shop.visitor(), nonce, { email: 'late@example.com' })).status).toBe(201)
    clock.advance(1)
    expect(refusal(await registerWith(shop.visitor(), nonce, { email: 'later@example.com' }))).toEqual(invalid)
  })

  it("may be anonymous with any cookie, or the session's own", async () => {
    const anonymous = await shop.visitor().nonce()
    const visitor = shop.visitor()
    await visitor.register(details())
    expect((await registerWith(visitor, anonymous, { email: `a${person}@example.com` })).status).toBe(201)
    const own = await visitor.nonce()
    expect((await registerWith(visitor, own, { email: `b${person}@example.com` })).status).toBe(201)
  })

  it("is rejected in another session, and a session's nonce without the session", async () => {
    const ada = shop.visitor()
    await ada.register(details())
    const nonce = await ada.nonce()
    const eve = shop.visitor()
    await eve.register({ ...details(), email: `eve${person}@example.com` })
    expect(refusal(await registerWith(eve, nonce, { email: `c${person}@example.com` }))).toEqual(invalid)
    expect(refusal(await registerWith(shop.visitor(), nonce, { email: `c${person}@example.com` }))).toEqual(invalid)
  })
})

describe('the nonce of a session', () => {
  it('may be the nonce of the register or login that started it', async () => {
    const visitor = shop.visitor()
    const first = await visitor.nonce()
    await registerWith(visitor, first)
    expect((await readMe(visitor, first)).status).toBe(200)
    const back = shop.visitor()
    const second = await back.nonce()
    const { email, password } = details()
    await back.post('/auth/login', { email, password }, { 'x-nonce': second })
    expect((await readMe(back, second)).status).toBe(200)
    expect(refusal(await readMe(back, first))).toEqual(invalid)
  })

  it('stays valid when the session logs in again with it', async () => {
    const visitor = shop.visitor()
    await visitor.register(details())
    const own = await visitor.nonce()
    await visitor.post('/auth/login', details(), { 'x-nonce': own })
    expect((await readMe(visitor, own)).status).toBe(200)
  })

  it('is rejected in a session that an anonymous nonce did not start', async () => {
    const visitor = shop.visitor()
    await visitor.register(details())
    expect(refusal(await readMe(visitor, await shop.visitor().nonce()))).toEqual(invalid)
  })

  it('is invalid after logout, even for the next session of the person', async () => {
    const visitor = shop.visitor()
    await visitor.register(details())
    const own = await visitor.nonce()
    expect((await readMe(visitor, own)).status).toBe(200)
    await visitor.post('/auth/logout')
    expect(refusal(await readMe(visitor, own))).toEqual(invalid)
    expect(refusal(await registerWith(visitor, own, { email: `d${person}@example.com` }))).toEqual(invalid)
    await visitor.post('/auth/login', details())
    expect(refusal(await readMe(visitor, own))).toEqual(invalid)
  })

  it('is invalid after a password change', async () => {
    const visitor = shop.visitor()
    await visitor.register(details())
    const own = await visitor.nonce()
    await visitor.post('/auth/change-password', {
      currentPassword: details().password,
      newPassword: 'granite-willow-71'
    })
    expect(refusal(await readMe(visitor, own))).toEqual(invalid)
    expect((await readMe(visitor, await visitor.nonce())).status).toBe(200)
  })
})
