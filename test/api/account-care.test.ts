import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { getUser } from '../../src/shop/accounts/find.ts'
import { toAccountRecord } from '../../src/shop/accounts/view.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Answer } from '../support/browser.ts'
import { mailsTo, nextMail, tokenOf } from '../support/mail-files.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'
import { names } from './shapes.ts'

const clock = testClock()
const hourMs = 3_600_000
const password = 'tidal-basalt-93'
const newPassword = 'granite-willow-71'

let shop: RunningShop
let email = ''
let person = 0
beforeAll(async () => {
  shop = await startShop({ overrides: { clock } })
  setSetting(shop.app.db, 'limits.token_ip', 'off', 0)
})
afterAll(() => shop.stop())
beforeEach(() => {
  person += 1
  email = `person${person}@example.com`
  setSetting(shop.app.db, 'registration.emailVerification', 'false', 0)
})

function outcome({ status, error, data }: Answer): unknown[] {
  return [status, error === undefined ? data : error.code]
}

function fields({ error }: Answer): string[] {
  return Object.keys(error.details['fieldErrors'] ?? {})
}

const refusedToken = [400, 'TOKEN_INVALID']

describe('the verification of an email', () => {
  beforeEach(() => setSetting(shop.app.db, 'registration.emailVerification', 'true', 0))

  it('leads from registration to the first login, and guest orders join the account', async () => {
    const guest = shop.visitor()
    const { data } = await guest.get<{ offers: { productId: number }[] }>('/store/offers')
    const items = [{ productId: data.offers[0]?.productId, quantity: 1 }]
    expect((await guest.post('/store/checkout-session', { items, customer: { email } })).status).toBe(200)

    const visitor = shop.visitor()
    await visitor.register({ email })
    const mail = await nextMail(shop.dataDir, email)
    expect(names(mail)).toEqual(['html', 'links', 'subject', 'text', 'to'])
    expect(names(mail.links)).toEqual(['verify'])
    expect(mail.links.verify).toMatch(/^http:\/\/localhost:\d+\/account\/verify\?token=[\w-]{43}$/)
    expect(mail.text).toContain(mail.links.verify)

    const token = tokenOf(mail.links.verify)
    const verified = await visitor.post('/auth/verify-email', { token })
    expect(outcome(verified)).toEqual([200, { verified: true }])
    expect(verified.headers.getSetCookie()).toEqual([])
    expect((await visitor.get('/me')).status).toBe(401)
    expect((await visitor.post('/auth/login', { email, password })).status).toBe(200)
    expect((await visitor.get<{ orders: unknown[] }>('/orders')).data.orders).toHaveLength(1)
    expect(outcome(await visitor.post('/auth/verify-email', { token }))).toEqual(refusedToken)
  })

  it('works for 24 hours; a new link can be requested and ends the one before', async () => {
    const visitor = shop.visitor()
    const registered = await visitor.register({ email })
    const first = tokenOf((await nextMail(shop.dataDir, email)).links.verify)
    clock.set(Date.parse(String(registered.meta?.['expiresAt'])))
    expect(outcome(await visitor.post('/auth/verify-email', { token: first }))).toEqual(refusedToken)
    for (let count = 2; count < 4; count += 1) {
      expect(outcome(await visitor.post('/auth/resend-verification', { email }))).toEqual([200, { accepted: true }])
      await nextMail(shop.dataDir, email, count)
    }
    const [, second, third] = mailsTo(shop.dataDir, email).map(({ links }) => tokenOf(links.verify))
    expect(outcome(await visitor.post('/auth/verify-email', { token: second }))).toEqual(refusedToken)
    clock.advance(24 * hourMs - 1)
    expect(outcome(await visitor.post('/auth/verify-email', { token: third }))).toEqual([200, { verified: true }])
  })

  it.each([{}, { token: null }, { token: '' }, { token: 7 }, { token: ['x'] }, { token: 'x'.repeat(201) }])(
    'answers 422 for %j',
    async (body) => {
      for (const [path, more] of [
        ['/auth/verify-email', {}],
        ['/auth/reset-password', { password: newPassword }]
      ] as const) {
        const answer = await shop.visitor().post(path, { ...body, ...more })
        expect([...outcome(answer), ...fields(answer)]).toEqual([422, 'VALIDATION_FAILED', 'token'])
      }
    }
  )

  it('answers TOKEN_INVALID for an unknown token and for a stored hash', async () => {
    await shop.visitor().register({ email })
    const { sqlite } = shop.app.db
    const { token_hash: stored } = sqlite
      .prepare<[], { token_hash: string }>('SELECT token_hash FROM email_tokens ORDER BY id DESC')
      .get() ?? { token_hash: '' }
    for (const token of ['x', stored, 'A'.repeat(43)]) {
      expect(outcome(await shop.visitor().post('/auth/verify-email', { token }))).toEqual(refusedToken)
    }
  })

  it('works on the hosted page, whose link alone changes nothing', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email })
    const link = new URL((await nextMail(shop.dataDir, email)).links.verify ?? '')
    const at = `${shop.url}${link.pathname}${link.search}`
    for (let look = 0; look < 2; look += 1) expect((await visitor.fetch(at)).status).toBe(200)
    expect((await visitor.post('/auth/login', { email, password })).error.code).toBe('AUTH_EMAIL_NOT_VERIFIED')
    const sent = await visitor.form(`${shop.url}/account/verify`, { token: tokenOf(link.href) })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/account/verify/done'])
    expect((await visitor.post('/auth/login', { email, password })).status).toBe(200)
  })
})

describe('a forgotten password', () => {
  it('is replaced with the link of its email: every session ends, and the owner is notified', async () => {
    const [visitor, other] = [shop.visitor(), shop.visitor()]
    await visitor.register({ email })
    await other.post('/auth/login', { email, password })
    expect(outcome(await shop.visitor().post('/auth/forgot-password', { email }))).toEqual([200, { accepted: true }])
    const { links } = await nextMail(shop.dataDir, email)
    expect(links.reset).toMatch(/^http:\/\/localhost:\d+\/account\/reset\?token=[\w-]{43}$/)
    const token = tokenOf(links.reset)
    const reset = await shop.visitor().post('/auth/reset-password', { token, password: newPassword })
    expect(outcome(reset)).toEqual([200, { reset: true }])
    expect([(await visitor.get('/me')).status, (await other.get('/me')).status]).toEqual([401, 401])
    expect((await visitor.post('/auth/login', { email, password })).status).toBe(401)
    expect((await visitor.post('/auth/login', { email, password: newPassword })).status).toBe(200)
    expect((await nextMail(shop.dataDir, email, 2)).links).toEqual({})
    expect(outcome(await visitor.post('/auth/reset-password', { token, password }))).toEqual(refusedToken)
  })

  it('keeps its token when the new password breaks the rules', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email })
    await visitor.post('/auth/forgot-password', { email })
    const token = tokenOf((await nextMail(shop.dataDir, email)).links.reset)
    const weak = await visitor.post('/auth/reset-password', { token, password: 'password123' })
    expect([...outcome(weak), weak.error.details]).toEqual([
      400,
      'PASSWORD_POLICY_VIOLATION',
      { reason: 'password_policy', rules: ['common'] }
    ])
    expect((await visitor.get('/me')).status).toBe(200)
    expect((await visitor.post('/auth/reset-password', { token, password: newPassword })).status).toBe(200)
  })

  it('has a link that works for an hour', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email })
    await visitor.post('/auth/forgot-password', { email })
    const token = tokenOf((await nextMail(shop.dataDir, email)).links.reset)
    clock.advance(hourMs)
    expect(outcome(await visitor.post('/auth/reset-password', { token, password: newPassword }))).toEqual(refusedToken)
  })

  it('also verifies the email, because only its reader has the link', async () => {
    setSetting(shop.app.db, 'registration.emailVerification', 'true', 0)
    const visitor = shop.visitor()
    await visitor.register({ email })
    await nextMail(shop.dataDir, email)
    await visitor.post('/auth/forgot-password', { email })
    const token = tokenOf((await nextMail(shop.dataDir, email, 2)).links.reset)
    await visitor.post('/auth/reset-password', { token, password: newPassword })
    expect((await visitor.post('/auth/login', { email, password: newPassword })).status).toBe(200)
  })

  it('keeps the cookie of another user who is logged in in the same browser', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email })
    const friend = shop.visitor()
    await friend.register({ email: `friend-${email}` })
    await visitor.post('/auth/forgot-password', { email })
    const token = tokenOf((await nextMail(shop.dataDir, email)).links.reset)
    await friend.post('/auth/reset-password', { token, password: newPassword })
    expect((await friend.get('/me')).status).toBe(200)
  })
})

describe('a request for a message', () => {
  it.each(['/auth/forgot-password', '/auth/resend-verification'])(
    'at %s gets the same response for every email',
    async (path) => {
      await shop.visitor().register({ email })
      for (const asked of [email, 'nobody@example.com', ` ${email.toUpperCase()} `]) {
        expect(outcome(await shop.visitor().post(path, { email: asked }))).toEqual([200, { accepted: true }])
      }
      for (const body of [{}, { email: null }, { email: 'no email' }, { email: ['a@b.example'] }]) {
        const answer = await shop.visitor().post(path, body)
        expect([...outcome(answer), ...fields(answer)]).toEqual([422, 'VALIDATION_FAILED', 'email'])
      }
    }
  )

  it('sends none if there is nothing to verify or no account', async () => {
    const visitor = shop.visitor()
    setSetting(shop.app.db, 'registration.emailVerification', 'true', 0)
    await visitor.register({ email })
    await visitor.post('/auth/verify-email', { token: tokenOf((await nextMail(shop.dataDir, email)).links.verify) })
    await visitor.post('/auth/resend-verification', { email })
    await visitor.post('/auth/forgot-password', { email: 'nobody@example.com' })
    await visitor.post('/auth/forgot-password', { email })
    const [, second, ...others] = [await nextMail(shop.dataDir, email), await nextMail(shop.dataDir, email, 2)]
    expect(second?.links.reset).toBeDefined()
    expect([others, mailsTo(shop.dataDir, 'nobody@example.com')]).toEqual([[], []])
  })
})

describe('a change of password', () => {
  it('requires the current password, and a new one that follows the rules', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email })
    const change = (body: object) => visitor.post('/auth/change-password', body)
    const missing = await change({})
    expect([...outcome(missing), ...fields(missing)]).toEqual([
      422,
      'VALIDATION_FAILED',
      'currentPassword',
      'newPassword'
    ])
    expect(outcome(await change({ currentPassword: 'wrong', newPassword }))).toEqual([401, 'AUTH_INVALID_CREDENTIALS'])
    expect(outcome(await change({ currentPassword: password, newPassword: 'short' }))).toEqual([
      400,
      'PASSWORD_POLICY_VIOLATION'
    ])
    expect((await visitor.get('/me')).status).toBe(200)
    expect(outcome(await change({ currentPassword: password, newPassword }))).toEqual([200, { changed: true }])
    expect((await visitor.get('/me')).status).toBe(200)
    expect((await shop.visitor().post('/auth/login', { email, password })).status).toBe(401)
    expect((await nextMail(shop.dataDir, email)).subject).toMatch(/password/i)
  })
})

describe('PATCH /me', () => {
  it('changes the fields of the request, leaves the others, and answers like GET /me', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email, firstName: 'Ada', lastName: 'Quill' })
    const patched = await visitor.send('PATCH', '/me', {
      displayName: ' Countess ',
      firstName: 'Augusta',
      billingEmail: 'Books@Example.com',
      billingPhone: '+44 20 7946 0000',
      companyName: 'Quill & Sons'
    })
    expect(patched.status).toBe(200)
    expect(patched.data).toEqual((await visitor.get('/me')).data)
    expect(patched.data).toMatchObject({
      user: {
        email,
        displayName: 'Countess',
        billingEmail: 'Books@Example.com',
        billingPhone: '+44 20 7946 0000',
        companyName: 'Quill & Sons'
      },
      profile: { firstName: 'Augusta', lastName: 'Quill' }
    })
    const names = { firstName: 'Augusta', lastName: 'Quill' }
    expect(toAccountRecord(shop.app.db, getUser(shop.app.db, email))).toMatchObject({
      profile: names,
      coreProfile: names
    })
    expect((await visitor.send('PATCH', '/me', {})).data).toEqual((await visitor.get('/me')).data)
  })

  it('clears an optional field with null, and a name in both places', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email, firstName: 'Ada', lastName: 'Quill' })
    const optional = { billingEmail: 'b@example.com', billingPhone: '1', companyName: 'Quill' }
    await visitor.send('PATCH', '/me', optional)
    const nothing = { firstName: null, lastName: null, billingEmail: null, billingPhone: null, companyName: null }
    const { data } = await visitor.send<{ user: object; profile: object }>('PATCH', '/me', nothing)
    expect(names(data.user)).toEqual(['createdAt', 'displayName', 'email', 'id', 'roles'])
    expect(data.profile).toEqual({ firstName: null, lastName: null })
  })

  it('updates the time and the biography when it changes the marketing consent', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email, marketingOptIn: true })
    const registeredAt = new Date(clock.now()).toISOString()
    const record = () => toAccountRecord(shop.app.db, getUser(shop.app.db, email))
    await visitor.send('PATCH', '/me', { marketingOptIn: false })
    expect(record()).toMatchObject({ marketingOptIn: 'no', marketingOptInAt: null })
    expect(record().biography).toMatch(/^Customer marketing opt-in: no\nCustomer marketing opt-in at: -\nPartner/)
    clock.advance(1000)
    const { data } = await visitor.send('PATCH', '/me', { marketingOptIn: true })
    const at = new Date(clock.now()).toISOString()
    expect(data).toMatchObject({ consent: { marketingOptIn: true, termsAcceptedAt: registeredAt } })
    expect(record()).toMatchObject({ marketingOptIn: 'yes', marketingOptInAt: at })
    expect(record().biography).toContain(`Customer marketing opt-in: yes\nCustomer marketing opt-in at: ${at}\n`)
  })

  it.each([
    [{ displayName: null }, 'displayName'],
    [{ displayName: ' ' }, 'displayName'],
    [{ displayName: 'x'.repeat(101) }, 'displayName'],
    [{ firstName: 7 }, 'firstName'],
    [{ companyName: 'x'.repeat(101) }, 'companyName'],
    [{ billingPhone: '1'.repeat(41) }, 'billingPhone'],
    [{ billingEmail: 'no email' }, 'billingEmail'],
    [{ marketingOptIn: 'yes' }, 'marketingOptIn'],
    [{ email: 'other@example.com' }, 'email'],
    [{ isAdmin: true }, 'isAdmin'],
    [{ roles: ['administrator'] }, 'roles'],
    [{ password: newPassword }, 'password']
  ])('refuses %j with 422 and changes nothing', async (body, field) => {
    const visitor = shop.visitor()
    await visitor.register({ email })
    const before = (await visitor.get('/me')).data
    const answer = await visitor.send<Record<string, unknown>>('PATCH', '/me', { lastName: 'Changed', ...body })
    expect([...outcome(answer), ...fields(answer)]).toEqual([422, 'VALIDATION_FAILED', field])
    expect((await visitor.get('/me')).data).toEqual(before)
  })
})

describe('through the first-party proxy', () => {
  it('each of these endpoints requires a nonce', async () => {
    const visitor = shop.visitor()
    for (const [method, path] of [
      ['POST', '/auth/logout'],
      ['POST', '/auth/verify-email'],
      ['POST', '/auth/resend-verification'],
      ['POST', '/auth/forgot-password'],
      ['POST', '/auth/reset-password'],
      ['POST', '/auth/change-password'],
      ['PATCH', '/me'],
      ['GET', '/me/downloads'],
      ['POST', '/affiliates/apply'],
      ['POST', '/affiliates/terms'],
      ['GET', '/affiliates/me']
    ] as const) {
      const at = `${shop.url}/api/secure${path}`
      const body = method === 'GET' ? undefined : {}
      const bare = await visitor.send(method, at, body)
      expect([path, bare.status, bare.error.details]).toEqual([path, 403, { reason: 'missing_nonce' }])
      const odd = await visitor.send(method, at, body, { 'x-nonce': 'x' })
      expect([path, odd.status, odd.error.details]).toEqual([path, 403, { reason: 'invalid_nonce' }])
      const good = await visitor.send(method, at, body, { 'x-nonce': await visitor.nonce() })
      expect([path, good.status === 403]).toEqual([path, false])
    }
  })
})
