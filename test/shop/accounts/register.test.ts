import { describe, expect, it } from 'vitest'
import { tokenHash } from '../../../src/platform/crypto/secrets.ts'
import { findUserByEmail } from '../../../src/shop/accounts/find.ts'
import { registerInput } from '../../../src/shop/accounts/input.ts'
import { issueNonce } from '../../../src/shop/accounts/nonce.ts'
import { assertRegistrationOpen, register } from '../../../src/shop/accounts/register.ts'
import { findSession } from '../../../src/shop/accounts/sessions.ts'
import { toConsent, toProfile } from '../../../src/shop/accounts/view.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { atOnce, refusal, tally } from '../../support/accounts.ts'
import { caller, goodPassword, makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const body = { email: 'mira@shop.example', password: goodPassword, displayName: 'Mira Okafor', acceptTerms: true }

const send = (shop: TestShop, changes: object = {}, from = caller()) =>
  register(shop, registerInput.parse({ ...body, ...changes }), from, shop.clock.now())
const rows = (shop: TestShop, table: string) => shop.db.sqlite.prepare(`SELECT * FROM ${table}`).all()

describe('a registration', () => {
  it('makes the account, keeps names in both places and what was agreed to, and logs in', async () => {
    using shop = openTestShop()
    const { user, session, expiresAt } = await send(shop, {
      firstName: 'Mira',
      lastName: 'Okafor',
      marketingOptIn: true,
      termsAcceptedAt: '2026-01-15T13:04+01:00',
      privacyAcceptedAt: '2026-01-14'
    })
    expect(expiresAt).toBeNull()
    expect(findSession(shop.db, session?.token ?? '', shop.clock.now())?.user.id).toBe(user.id)
    expect(user).toMatchObject({ firstName: 'Mira', lastName: 'Okafor', verificationPending: false })
    expect(rows(shop, 'registration_profiles')).toMatchObject([{ first_name: 'Mira', last_name: 'Okafor' }])
    expect(toProfile(shop.db, user)).toEqual({ firstName: 'Mira', lastName: 'Okafor' })
    expect(rows(shop, 'registration_consents')).toMatchObject([{ marketing_opt_in: 1 }])
    expect(user).toMatchObject({ marketingOptIn: 'yes', marketingOptInAt: shop.clock.now() })
    expect(toConsent(shop.db, user)).toEqual({
      marketingOptIn: true,
      termsAcceptedAt: '2026-01-15T12:00:00.000Z',
      privacyAcceptedAt: '2026-01-14T00:00:00.000Z'
    })
    expect(rows(shop, 'mails')).toEqual([])
  })

  it('without a word on marketing is a no, and its terms were accepted now', async () => {
    using shop = openTestShop()
    const { user } = await send(shop, { marketingOptIn: null })
    expect(user).toMatchObject({ marketingOptIn: 'no', marketingOptInAt: null })
    expect(toConsent(shop.db, user)).toMatchObject({
      marketingOptIn: false,
      termsAcceptedAt: '2026-01-15T12:00:00.000Z',
      privacyAcceptedAt: null
    })
  })

  it('waits for its email to be verified if the shop requires it', async () => {
    using shop = openTestShop()
    setSetting(shop.db, 'registration.emailVerification', 'true', 0)
    const { user, session, expiresAt } = await send(shop)
    expect(session).toBeNull()
    expect(expiresAt).toBe(shop.clock.now() + 86_400_000)
    expect(user).toMatchObject({ verificationPending: true, emailVerifiedAt: null })
    expect(rows(shop, 'sessions')).toEqual([])
    expect(rows(shop, 'mails')).toMatchObject([{ template: 'verify_email', recipient: user.email, state: 'queued' }])
  })

  it('keeps the nonce it came with good for the session it starts, and ends the session it came from', async () => {
    using shop = openTestShop()
    const first = await send(shop, { email: 'first@shop.example' })
    const old = findSession(shop.db, first.session?.token ?? '', shop.clock.now())
    if (old === undefined) throw new Error('no session')
    const nonce = issueNonce(shop.keys, null, shop.clock.now())
    const { session } = await send(shop, {}, caller({ nonce, identity: old }))
    const started = findSession(shop.db, session?.token ?? '', shop.clock.now())
    expect(started?.session.startNonceHash).toBe(tokenHash(nonce))
    expect(findSession(shop.db, first.session?.token ?? '', shop.clock.now())).toBeUndefined()
  })

  it('that cannot be logged in keeps its account and says so with INTERNAL_SERVER_ERROR', async () => {
    using shop = openTestShop()
    shop.db.sqlite.exec(
      `CREATE TRIGGER no_sessions BEFORE INSERT ON sessions BEGIN SELECT RAISE(ABORT, 'disk trouble'); END`
    )
    const failure = await send(shop).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'INTERNAL_SERVER_ERROR', status: 500, details: {} })
    expect(String(failure)).not.toContain('disk trouble')
    expect(findUserByEmail(shop.db, body.email)?.status).toBe('active')
    expect(rows(shop, 'sessions')).toEqual([])
  })
})

describe('a registration is refused', () => {
  it('while the shop takes none', () => {
    using shop = openTestShop()
    expect(() => assertRegistrationOpen(shop)).not.toThrow()
    setSetting(shop.db, 'registration.enabled', 'false', 0)
    expect(() => assertRegistrationOpen(shop)).toThrow(refusal('AUTH_REGISTRATION_DISABLED'))
  })

  it('with an agreement more than a day ahead', async () => {
    using shop = openTestShop()
    const at = (minutes: number) => new Date(shop.clock.now() + minutes * 60_000).toISOString()
    await expect(send(shop, { termsAcceptedAt: at(24 * 60 + 1) })).rejects.toThrow(
      refusal('VALIDATION_FAILED', { fieldErrors: { termsAcceptedAt: [expect.any(String)] } })
    )
    await expect(send(shop, { privacyAcceptedAt: at(48 * 60) })).rejects.toThrow(refusal('VALIDATION_FAILED'))
    await expect(send(shop, { termsAcceptedAt: at(24 * 60) })).resolves.toBeDefined()
  })

  it('with a password that breaks the rules, before it is told that the email is taken', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    await expect(send(shop, { password: 'password1' })).rejects.toThrow(
      refusal('PASSWORD_POLICY_VIOLATION', { reason: 'password_policy', rules: ['common'] })
    )
    await expect(send(shop, { email: 'MIRA@SHOP.EXAMPLE' })).rejects.toThrow(refusal('AUTH_REGISTRATION_FAILED'))
  })

  it('past the limit of its address, and past that of its email from any address', async () => {
    using shop = openTestShop()
    setSetting(shop.db, 'limits.register_ip', '2/60', 0)
    setSetting(shop.db, 'limits.register_email', '3/60', 0)
    await send(shop)
    await expect(send(shop)).rejects.toThrow(refusal('AUTH_REGISTRATION_FAILED'))
    const limited = await send(shop).catch((error: unknown) => error)
    expect(limited).toMatchObject({ code: 'AUTH_RATE_LIMITED', status: 429, details: { bucket: 'register_ip' } })
    expect(limited).toHaveProperty('headers.Retry-After', expect.stringMatching(/^(5\d|60)$/))
    const elsewhere = caller({ addressKey: '198.51.100.1' })
    await expect(send(shop, { password: 'short' }, elsewhere)).rejects.toThrow(refusal('PASSWORD_POLICY_VIOLATION'))
    await expect(send(shop, { email: 'MIRA@shop.example' }, elsewhere)).rejects.toThrow(
      refusal('AUTH_RATE_LIMITED', { bucket: 'register_email' })
    )
  })
})

describe('20 registrations at once with one email', () => {
  it('make one account; the others are told AUTH_REGISTRATION_FAILED', async () => {
    using shop = openTestShop()
    setSetting(shop.db, 'limits.register_email', 'off', 0)
    expect(tally(await atOnce(20, () => send(shop)))).toEqual({ in: 1, AUTH_REGISTRATION_FAILED: 19 })
    expect(rows(shop, 'users')).toHaveLength(1)
    expect(rows(shop, 'sessions')).toHaveLength(1)
  })
})
