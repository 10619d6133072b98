import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { getUser } from '../../src/shop/accounts/find.ts'
import { toAccountRecord } from '../../src/shop/accounts/view.ts'
import { setSetting, unsetSetting } from '../../src/shop/settings/settings.ts'
import type { Answer, Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'
import { expectNames, flagNames, freshEntitlements, freshFlags, isoTime, standardMeta } from './shapes.ts'

const clock = testClock()
const at = new Date(clock.now()).toISOString()
const dayMs = 24 * 3_600_000

let shop: RunningShop
let email = ''
let person = 0
beforeAll(async () => {
  shop = await startShop({ seed: null, overrides: { clock } })
})
afterAll(() => shop.stop())
beforeEach(() => {
  person += 1
  email = `person${person}@example.com`
})

function set(key: Parameters<typeof setSetting>[1], value: string): void {
  setSetting(shop.app.db, key, value, 0)
}

function refusal({ status, error }: Answer): [number, string] {
  return [status, error.code]
}

function fields({ error }: Answer): string[] {
  return Object.keys(error.details['fieldErrors'] ?? {})
}

async function post(visitor: Browser, body: unknown): Promise<Answer> {
  return visitor.post('/auth/register', body, { 'x-nonce': await visitor.nonce() })
}

function record() {
  return toAccountRecord(shop.app.db, getUser(shop.app.db, email))
}

describe('a registration that logs in', () => {
  it('answers 201 with exactly user, flags, entitlements, next, and meta with nextStep', async () => {
    const answer = await shop.visitor().register({ email, firstName: 'Ada', lastName: 'Quill' })
    expect(answer.status).toBe(201)
    expect(answer.data).toStrictEqual({
      user: { id: expect.any(Number), email, displayName: 'Ada Quill', roles: ['customer'], createdAt: at },
      flags: freshFlags(true),
      entitlements: freshEntitlements(true),
      next: '/api/v1/me'
    })
    expectNames(answer.data['flags'], flagNames)
    expectNames(answer.meta, [...standardMeta, 'nextStep'])
    expect(answer.meta?.['nextStep']).toBe('NONE')
  })

  it('starts a session whose cookie ends with the browser', async () => {
    const visitor = shop.visitor()
    const { headers } = await visitor.register({ email })
    const [cookie, ...others] = headers.getSetCookie()
    expect(others).toEqual([expect.stringMatching(/^shopstead_device=/)])
    expect(cookie).toMatch(/^shopstead_session=[A-Za-z0-9_-]{43}; Path=\/; SameSite=Lax; HttpOnly$/)
    expect((await visitor.get('/me')).status).toBe(200)
  })

  it('ends the session that it came with', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email })
    const before = visitor.cookies.get('shopstead_session') ?? ''
    await post(visitor, { email: `other-${email}`, password: 'tidal-basalt-93', displayName: 'B', acceptTerms: true })
    expect((await visitor.get<{ user: { email: string } }>('/me')).data.user.email).toBe(`other-${email}`)
    visitor.cookies.set('shopstead_session', before)
    expect((await visitor.get('/me')).status).toBe(401)
  })

  it('is 500 when its session cannot start, keeps the account and sets no cookie', async () => {
    shop.app.db.sqlite.exec(
      `CREATE TRIGGER no_sessions BEFORE INSERT ON sessions BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`
    )
    const visitor = shop.visitor()
    try {
      const answer = await visitor.register({ email })
      expect(refusal(answer)).toEqual([500, 'INTERNAL_SERVER_ERROR'])
      expect(answer.error.details).toEqual({})
      expect(answer.text).not.toMatch(/disk|trigger|sqlite/i)
      expect(answer.headers.getSetCookie()).toEqual([])
    } finally {
      shop.app.db.sqlite.exec('DROP TRIGGER no_sessions')
    }
    expect(refusal(await visitor.register({ email }))).toEqual([400, 'AUTH_REGISTRATION_FAILED'])
    expect((await visitor.post('/auth/login', { email, password: 'tidal-basalt-93' })).status).toBe(200)
  })
})

describe('a registration that waits for its verification', () => {
  beforeEach(() => set('registration.emailVerification', 'true'))
  afterEach(() => unsetSetting(shop.app.db, 'registration.emailVerification'))

  it('answers 201 with exactly user, flags, entitlements, registrationStatus, and meta with nextStep and expiresAt', async () => {
    const answer = await shop.visitor().register({ email })
    expect(answer.status).toBe(201)
    expect(answer.data).toStrictEqual({
      user: { id: expect.any(Number), email, displayName: 'Ada Quill', roles: ['customer'], createdAt: at },
      flags: freshFlags(false),
      entitlements: freshEntitlements(false),
      registrationStatus: 'pending_verification'
    })
    expectNames(answer.meta, [...standardMeta, 'nextStep', 'expiresAt'])
    expect(answer.meta).toMatchObject({
      nextStep: 'VERIFY_EMAIL',
      expiresAt: new Date(clock.now() + dayMs).toISOString()
    })
  })

  it('starts no session; its password gets AUTH_EMAIL_NOT_VERIFIED, a wrong one the usual error', async () => {
    const visitor = shop.visitor()
    const { headers } = await visitor.register({ email })
    // Only the browser that registered may verify the email without a password.
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(/^shopstead_device=\d+\./)])
    expect((await visitor.get('/me')).status).toBe(401)
    const right = await visitor.post('/auth/login', { email, password: 'tidal-basalt-93' })
    expect(refusal(right)).toEqual([403, 'AUTH_EMAIL_NOT_VERIFIED'])
    const wrong = await visitor.post('/auth/login', { email, password: 'tidal-basalt-94' })
    expect(refusal(wrong)).toEqual([401, 'AUTH_INVALID_CREDENTIALS'])
  })

  it('does not change the session of the request', async () => {
    set('registration.emailVerification', 'false')
    const visitor = shop.visitor()
    await visitor.register({ email })
    set('registration.emailVerification', 'true')
    await visitor.register({ email: `other-${email}` })
    expect((await visitor.get<{ user: { email: string } }>('/me')).data.user.email).toBe(email)
  })
})

describe('the data of a registration', () => {
  it('contains the names in the profile and in the core fields, and /me shows them', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email, firstName: '  Ada ', lastName: 'Quill' })
    const names = { firstName: 'Ada', lastName: 'Quill' }
    expect(record()).toMatchObject({ profile: names, coreProfile: names })
    expect((await visitor.get('/me')).data['profile']).toEqual(names)
  })

  it('contains marketing consent with its time, in the consent record, on the user and in the biography', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email, marketingOptIn: true })
    expect(record()).toMatchObject({
      marketingOptIn: 'yes',
      marketingOptInAt: at,
      registrationConsent: { marketingOptIn: true, termsAcceptedAt: at, privacyAcceptedAt: null },
      biography: [
        'Customer marketing opt-in: yes',
        `Customer marketing opt-in at: ${at}`,
        'Partner marketing opt-in: no',
        'Partner marketing opt-in at: -'
      ].join('\n')
    })
    expect((await visitor.get('/me')).data['consent']).toStrictEqual({
      marketingOptIn: true,
      termsAcceptedAt: at,
      privacyAcceptedAt: null
    })
  })

  it.each([false, null, undefined])('reads %s for marketing as a refusal without a time', async (marketingOptIn) => {
    await shop.visitor().register({ email, marketingOptIn })
    expect(record()).toMatchObject({
      marketingOptIn: 'no',
      marketingOptInAt: null,
      registrationConsent: { marketingOptIn: false },
      biography: [
        'Customer marketing opt-in: no',
        'Customer marketing opt-in at: -',
        'Partner marketing opt-in: no',
        'Partner marketing opt-in at: -'
      ].join('\n')
    })
  })

  it.each([
    ['2026-01-15', '2026-01-15T00:00:00.000Z'],
    ['2026-01-15T10:30Z', '2026-01-15T10:30:00.000Z'],
    ['2026-01-15T10:30:05Z', '2026-01-15T10:30:05.000Z'],
    ['2026-01-15T10:30:05.123+02:00', '2026-01-15T08:30:05.123Z']
  ])('stores the time %s of a client as UTC', async (sent, kept) => {
    await shop.visitor().register({ email, termsAcceptedAt: sent, privacyAcceptedAt: sent })
    expect(record().consent).toMatchObject({ termsAcceptedAt: kept, privacyAcceptedAt: kept })
  })

  it('contains the email as typed, which is compared without case, spaces and Unicode forms', async () => {
    const typed = ` Person${person}.Ünal@Example.com `.normalize('NFD')
    const visitor = shop.visitor()
    const { data } = await visitor.register({ email: typed })
    const kept = typed.normalize('NFC').trim()
    expect(data).toMatchObject({ user: { email: kept } })
    const again = await visitor.register({ email: kept.toUpperCase() })
    expect(refusal(again)).toEqual([400, 'AUTH_REGISTRATION_FAILED'])
    expect((await visitor.post('/auth/login', { email: kept.toLowerCase(), password: 'tidal-basalt-93' })).status).toBe(
      200
    )
  })

  it('omits optional user fields while they are unset', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email })
    const required = ['id', 'email', 'displayName', 'roles', 'createdAt']
    expectNames((await visitor.get('/me')).data['user'], required)
    await visitor.send('PATCH', '/me', { companyName: 'Quill & Sons' })
    expectNames((await visitor.get('/me')).data['user'], [...required, 'companyName'])
    await visitor.send('PATCH', '/me', { companyName: null })
    expectNames((await visitor.get('/me')).data['user'], required)
  })
})

describe('/me', () => {
  it('answers exactly user, roles, flags, entitlements, profile and consent', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email })
    const { status, data, meta } = await visitor.get('/me')
    expect(status).toBe(200)
    expect(data).toStrictEqual({
      user: { id: expect.any(Number), email, displayName: 'Ada Quill', roles: ['customer'], createdAt: isoTime },
      roles: { wpRoles: ['customer'], serviceRoles: [] },
      flags: freshFlags(true),
      entitlements: freshEntitlements(true),
      profile: { firstName: null, lastName: null },
      consent: { marketingOptIn: false, termsAcceptedAt: at, privacyAcceptedAt: null }
    })
    expectNames(meta, standardMeta)
  })

  it('falls back to each core name when the custom value is missing', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email, firstName: 'Ada', lastName: 'Quill' })
    const { sqlite } = shop.app.db
    const { id } = getUser(shop.app.db, email)
    sqlite
      .prepare("UPDATE registration_profiles SET first_name = 'Augusta', last_name = NULL WHERE user_id = ?")
      .run(id)
    expect((await visitor.get('/me')).data['profile']).toEqual({ firstName: 'Augusta', lastName: 'Quill' })
    sqlite.prepare('DELETE FROM registration_profiles WHERE user_id = ?').run(id)
    expect((await visitor.get('/me')).data['profile']).toEqual({ firstName: 'Ada', lastName: 'Quill' })
  })
})

describe('a refused registration', () => {
  it('is 422 for each field that is missing, null or empty', async () => {
    const needed = ['email', 'password', 'displayName', 'acceptTerms']
    expect(fields(await post(shop.visitor(), {})).toSorted()).toEqual(needed.toSorted())
    const good = { email, password: 'tidal-basalt-93', displayName: 'Ada', acceptTerms: true }
    for (const field of needed) {
      for (const value of [null, '', undefined, false, 0, [], {}]) {
        const answer = await post(shop.visitor(), { ...good, [field]: value })
        expect([field, value, ...refusal(answer), ...fields(answer)]).toEqual([
          field,
          value,
          422,
          'VALIDATION_FAILED',
          field
        ])
      }
    }
  })

  it.each([
    ['email', 'no-at.example'],
    ['email', 'a@b'],
    ['email', 'a@b.example\r\nBcc: x@y.example'],
    ['email', `${'a'.repeat(250)}@b.example`],
    ['displayName', 'x'.repeat(101)],
    ['displayName', '   '],
    ['displayName', 'Ada\u0000'],
    ['firstName', 'x'.repeat(101)],
    ['lastName', 7],
    ['acceptTerms', 'true'],
    ['acceptTerms', 1],
    ['marketingOptIn', 'yes'],
    ['termsAcceptedAt', 'yesterday'],
    ['termsAcceptedAt', '2026-02-30'],
    ['termsAcceptedAt', '2026-01-15T10:30:00'],
    ['termsAcceptedAt', 1_768_470_000],
    ['termsAcceptedAt', '2026-01-16T12:00:01Z'],
    ['privacyAcceptedAt', '2027-01-01']
  ])('is 422 for %s %j', async (field, value) => {
    const answer = await shop.visitor().register({ email, [field]: value })
    expect([...refusal(answer), ...fields(answer)]).toEqual([422, 'VALIDATION_FAILED', field])
  })

  it('limits names in code points, so that a hundred characters of any script are accepted', async () => {
    expect((await shop.visitor().register({ email, displayName: '𝒜'.repeat(100) })).status).toBe(201)
  })

  it.each([
    ['short7!', ['min_length']],
    ['x'.repeat(257), ['max_length']],
    ['password123', ['common']],
    ['PassWord123', ['common']]
  ])('is PASSWORD_POLICY_VIOLATION for %s', async (password, rules) => {
    const { status, error, text } = await shop.visitor().register({ email, password })
    expect([status, error.code]).toEqual([400, 'PASSWORD_POLICY_VIOLATION'])
    expect(error.details).toStrictEqual({ reason: 'password_policy', rules })
    expect(text).not.toContain(password)
  })

  it("has a password that is mostly the person's or the shop's name", async () => {
    for (const password of ['Ada Quill 99', 'adaquill-99', 'shopstead demo1', `${email.split('@')[0]}1234`]) {
      const { error } = await shop.visitor().register({ email, password })
      expect([password, error.details]).toEqual([password, { reason: 'password_policy', rules: ['personal'] }])
    }
  })

  it('is not caused by a password of 256 characters, of any script, or with spaces inside', async () => {
    const passwords = ['é'.repeat(256), ' tidal basalt 93 ', '漢字仮名交じり文です', '🐚🐙🦑🦐🦞🦀🐡🐠']
    for (const [index, password] of passwords.entries()) {
      const own = `script${index}-${email}`
      expect([password, (await shop.visitor().register({ email: own, password })).status]).toEqual([password, 201])
      const visitor = shop.visitor()
      expect((await visitor.post('/auth/login', { email: own, password })).status).toBe(200)
      expect((await visitor.post('/auth/login', { email: own, password: `${password} ` })).status).toBe(401)
    }
  })

  it('follows the order nonce, disabled, 413 and 415, fields, rate, password, taken', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email })
    const nonce = { 'x-nonce': await visitor.nonce() }
    const body = { email, password: 'short', displayName: 'Ada', acceptTerms: true }
    const send = (sent: unknown, headers: Record<string, string> = nonce) =>
      visitor.post('/auth/register', sent, headers)
    set('registration.enabled', 'false')
    set('limits.register_ip', '1/3600')
    try {
      expect(refusal(await send('{', { 'content-type': 'text/plain' }))).toEqual([403, 'CSRF_FAILED'])
      expect(refusal(await send('{', { ...nonce, 'content-type': 'text/plain' }))).toEqual([
        403,
        'AUTH_REGISTRATION_DISABLED'
      ])
      set('registration.enabled', 'true')
      expect(refusal(await send('{', { ...nonce, 'content-type': 'text/plain' }))).toEqual([
        415,
        'UNSUPPORTED_MEDIA_TYPE'
      ])
      expect(refusal(await send({ ...body, acceptTerms: false }))).toEqual([422, 'VALIDATION_FAILED'])
      expect(refusal(await send(body))).toEqual([429, 'AUTH_RATE_LIMITED'])
      set('limits.register_ip', 'off')
      expect(refusal(await send(body))).toEqual([400, 'PASSWORD_POLICY_VIOLATION'])
      expect(refusal(await send({ ...body, password: 'tidal-basalt-93' }))).toEqual([400, 'AUTH_REGISTRATION_FAILED'])
    } finally {
      unsetSetting(shop.app.db, 'registration.enabled')
      unsetSetting(shop.app.db, 'limits.register_ip')
    }
  })

  it('does not reveal that the email has an account', async () => {
    await shop.visitor().register({ email })
    const { status, error, text } = await shop.visitor().register({ email })
    expect([status, error.code, error.details]).toEqual([400, 'AUTH_REGISTRATION_FAILED', {}])
    expect(text).not.toMatch(/taken|exists|already|in use|@/i)
  })
})
