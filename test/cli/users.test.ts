import { describe, expect, it } from 'vitest'
import { findUserByEmail, getUserById } from '../../src/shop/accounts/find.ts'
import { applyAsAffiliate } from '../../src/shop/affiliates/create.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { countOf, eventsOf, logIn, mailsOf } from '../support/accounts.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { openTestShop } from '../support/shop-context.ts'
import { shopstead } from '../support/command-line.ts'

const passwordHash = 'not a hash'

describe('users on the command line', () => {
  it('are created with a password from standard input, and shown with what they agreed to', async () => {
    using shop = openTestShop()
    const words = ['users', 'create', '--email', 'Lena@shop.example', '--display-name', 'Lena Hartmann', '--verified']
    const created = await shopstead(shop.dataDir, [...words, '--password-stdin', '--json'], {
      input: `${goodPassword}\n`
    })
    expect(created).toMatchObject({ code: 0, json: { user: { email: 'Lena@shop.example', roles: ['customer'] } } })
    const user = findUserByEmail(shop.db, 'lena@shop.example')
    expect(await shop.passwords.verify(user?.passwordHash ?? '', goodPassword)).toBe(true)
    expect(eventsOf(shop)).toEqual(['account.registered', 'account.verified'])
    const shown = await shopstead(shop.dataDir, ['users', 'show', 'lena@shop.example', '--json'])
    expect(shown.json).toMatchObject({
      user: { id: user?.id, displayName: 'Lena Hartmann' },
      username: 'lena',
      status: 'active',
      emailVerifiedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      profile: { firstName: null, lastName: null },
      coreProfile: { firstName: null, lastName: null },
      consent: { marketingOptIn: false, termsAcceptedAt: null, privacyAcceptedAt: null },
      registrationConsent: { marketingOptIn: false },
      marketingOptIn: 'no',
      marketingOptInAt: null,
      biography:
        'Customer marketing opt-in: no\nCustomer marketing opt-in at: -\n' +
        'Partner marketing opt-in: no\nPartner marketing opt-in at: -',
      entitlements: { ordersSummary: { totalOrders: 0 } }
    })
  })

  it('are not created without a password, with a bad one, or with an email that is taken', async () => {
    using shop = openTestShop()
    await makeUser(shop, { passwordHash })
    const create = (email: string, input?: string) =>
      shopstead(
        shop.dataDir,
        ['users', 'create', '--email', email, '--display-name', 'X', '--json', ...(input ? ['--password-stdin'] : [])],
        input === undefined ? {} : { input }
      )
    expect(await create('x@shop.example')).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } })
    const [bad, taken, wrong] = await Promise.all([
      create('x@shop.example', 'password1'),
      create('MIRA@shop.example', goodPassword),
      create('nobody', goodPassword)
    ])
    expect(bad).toMatchObject({ code: 1, json: { error: { code: 'PASSWORD_POLICY_VIOLATION' } } })
    expect(taken).toMatchObject({ code: 1, json: { error: { code: 'AUTH_REGISTRATION_FAILED' } } })
    expect(wrong.json).toMatchObject({ error: { details: { fieldErrors: { email: [expect.any(String)] } } } })
    expect(countOf(shop, 'users')).toBe(1)
  })

  it('with an unverified email wait for verification if the shop requires it', async () => {
    using shop = openTestShop()
    setSetting(shop.db, 'registration.emailVerification', 'true', 0)
    const words = ['users', 'create', '--email', 'x@shop.example', '--display-name', 'X', '--password-stdin']
    expect((await shopstead(shop.dataDir, words, { input: goodPassword })).code).toBe(0)
    expect(findUserByEmail(shop.db, 'x@shop.example')?.verificationPending).toBe(true)
    expect(mailsOf(shop)).toMatchObject([{ template: 'verify_email' }])
    const { json } = await shopstead(shop.dataDir, ['users', 'verify', 'x@shop.example', '--json'])
    expect(json).toMatchObject({ emailVerifiedAt: expect.any(String) })
  })

  it('are deactivated, activated, logged out and listed', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    await makeUser(shop, { email: 'jonas@shop.example', passwordHash })
    const run = (...words: string[]) => shopstead(shop.dataDir, ['users', ...words, '--json'])
    logIn(shop, user)
    expect((await run('logout', String(user.id))).code).toBe(0)
    expect(countOf(shop, 'sessions')).toBe(0)
    logIn(shop, user)
    expect((await run('deactivate', user.email, '--yes')).json).toMatchObject({ status: 'deactivated' })
    expect(countOf(shop, 'sessions')).toBe(0)
    expect((await run('list', '--status', 'deactivated')).json).toMatchObject({
      users: [{ id: user.id, email: user.email, username: 'mira', status: 'deactivated', roles: ['customer'] }]
    })
    expect((await run('activate', user.email)).json).toMatchObject({ status: 'active' })
    expect(await run('show', 'nobody@shop.example')).toMatchObject({ code: 1, json: { error: { code: 'NOT_FOUND' } } })
    expect(await run('list', '--limit', '0')).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } })
  })

  it('are corrected: names, address, and an email that is verified only if the operator vouches for it', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    await makeUser(shop, { email: 'jonas@shop.example', passwordHash })
    const run = (...words: string[]) => shopstead(shop.dataDir, ['users', ...words, '--json'])
    const id = String(user.id)
    expect((await run('set-name', id, '--display-name', 'Mira M.', '--first-name', 'Mira')).json).toMatchObject({
      user: { displayName: 'Mira M.' },
      profile: { firstName: 'Mira' }
    })
    const address = ['--address1', 'Hafenstr. 3', '--postcode', '24103', '--city', 'Kiel', '--country', 'de']
    expect((await run('set-address', id, ...address)).json).toMatchObject({
      address: { address1: 'Hafenstr. 3', postcode: '24103', city: 'Kiel', country: 'DE' }
    })
    expect((await run('set-address', id, '--country', 'DE')).json).toMatchObject({
      error: { details: { fieldErrors: { 'address.city': [expect.any(String)] } } }
    })
    expect((await run('set-address', id, '--none')).json).toMatchObject({ address: null })
    expect((await run('set-email', id, 'mira@new.example')).json).toMatchObject({
      user: { email: 'mira@new.example' },
      emailVerifiedAt: null
    })
    expect(mailsOf(shop)).toMatchObject([
      { template: 'email_changed', recipient: user.email },
      { template: 'verify_email', recipient: 'mira@new.example' }
    ])
    expect((await run('set-email', id, 'mira@newer.example', '--verified')).json).toMatchObject({
      emailVerifiedAt: expect.any(String)
    })
    expect((await run('set-email', id, 'JONAS@shop.example')).json).toMatchObject({ error: { code: 'CONFLICT' } })
    expect((await run('set-email', id, 'nowhere')).json).toMatchObject({ error: { code: 'VALIDATION_FAILED' } })
    expect((await run('set-name', id)).code).toBe(2)
  })

  it('get a new password, which ends their sessions and sends them an email', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    logIn(shop, user)
    const words = ['users', 'set-password', user.email, '--password-stdin']
    expect((await shopstead(shop.dataDir, words, { input: 'paper-lighthouse-7\r\n' })).code).toBe(0)
    const { passwordHash: stored } = getUserById(shop.db, user.id)
    expect(await shop.passwords.verify(stored, 'paper-lighthouse-7')).toBe(true)
    expect(countOf(shop, 'sessions')).toBe(0)
    expect(mailsOf(shop)).toMatchObject([{ template: 'password_changed' }])
  })

  it('are exported as one document, and erased only when that is meant', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, firstName: 'Mira' })
    const application = { website: 'https://slowcoast.example', message: null, marketingOptIn: true }
    await applyAsAffiliate(shop, user, application, shop.clock.now())
    const exported = await shopstead(shop.dataDir, ['users', 'export', user.email])
    expect(JSON.parse(exported.stdout)).toMatchObject({
      user: { email: user.email },
      account: { profile: { firstName: 'Mira' }, partnerOptIn: 'yes' },
      orders: [],
      benefits: { memberships: [] },
      affiliate: { status: 'pending', website: 'https://slowcoast.example', balance: { unpaidMinor: 0 } }
    })
    const unsure = await shopstead(shop.dataDir, ['users', 'erase', user.email, '--json'])
    expect(unsure).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } })
    expect(getUserById(shop.db, user.id).status).toBe('active')
    const sure = await shopstead(shop.dataDir, ['users', 'erase', user.email, '--yes', '--json'])
    expect(sure).toMatchObject({
      code: 0,
      json: { status: 'erased', user: { email: `erased-${user.id}@erased.invalid` } }
    })
    expect(getUserById(shop.db, user.id).status).toBe('erased')
    expect(mailsOf(shop)).toEqual([])
    const again = await shopstead(shop.dataDir, ['users', 'verify', String(user.id), '--json'])
    expect(again).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
  })
})

describe('admin on the command line', () => {
  it('makes an administrator once, and running it again changes nothing', async () => {
    using shop = openTestShop()
    const words = ['admin', 'create', '--email', 'ruth@shop.example', '--json']
    expect(await shopstead(shop.dataDir, words)).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } })
    const first = await shopstead(shop.dataDir, [...words, '--password-stdin'], { input: goodPassword })
    expect(first).toMatchObject({
      code: 0,
      json: { created: true, user: { displayName: 'ruth', roles: ['customer', 'administrator'] } }
    })
    const stored = findUserByEmail(shop.db, 'ruth@shop.example')
    const second = await shopstead(shop.dataDir, [...words, '--password-stdin'], { input: 'another-harbour-43' })
    expect(second).toMatchObject({ code: 0, json: { created: false, granted: false } })
    expect(findUserByEmail(shop.db, 'ruth@shop.example')).toEqual(stored)
  })

  it('lists, makes one of an account that exists, and revokes, ending the sessions each time', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    logIn(shop, user)
    const made = await shopstead(shop.dataDir, ['admin', 'create', '--email', user.email, '--json'])
    expect(made).toMatchObject({ code: 0, json: { created: false, granted: true } })
    expect(countOf(shop, 'sessions')).toBe(0)
    const listed = await shopstead(shop.dataDir, ['admin', 'list', '--json'])
    expect(listed.json).toMatchObject({ administrators: [{ id: user.id, status: 'active' }] })
    logIn(shop, user)
    const revoked = await shopstead(shop.dataDir, ['admin', 'revoke', user.email, '--yes', '--json'])
    expect(revoked).toMatchObject({ code: 0, json: { revoked: true, user: { roles: ['customer'] } } })
    expect(revoked.stderr).toContain('The shop has no administrator now.')
    expect(countOf(shop, 'sessions')).toBe(0)
  })
})
