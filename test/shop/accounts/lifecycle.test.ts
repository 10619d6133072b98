import { queueMail } from '../../../src/shop/mail/queue-mail.ts'
import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { listAdministrators, setAdministrator } from '../../../src/shop/accounts/administrators.ts'
import { activateUser, deactivateUser } from '../../../src/shop/accounts/deactivate.ts'
import { createEmailToken, deriveEmailToken } from '../../../src/shop/accounts/email-tokens.ts'
import { eraseUser } from '../../../src/shop/accounts/erase.ts'
import { exportUser } from '../../../src/shop/accounts/export.ts'
import { findUserByEmail, getUserById } from '../../../src/shop/accounts/find.ts'
import { listUsers } from '../../../src/shop/accounts/list-users.ts'
import { endUserSessions } from '../../../src/shop/accounts/sessions.ts'
import { updateProfile } from '../../../src/shop/accounts/update-profile.ts'
import { toProfile } from '../../../src/shop/accounts/view.ts'
import { verifyEmail } from '../../../src/shop/accounts/verify-email.ts'
import { countOf, eventsOf, logIn, mailsOf, nothingMore, refusal } from '../../support/accounts.ts'
import { caller, makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const passwordHash = 'not a hash'
const nobodyElse = () => undefined
const tokenFor = (shop: TestShop, userId: number) =>
  deriveEmailToken(
    shop.keys,
    write(shop.db, (tx) => createEmailToken(tx, shop.keys, { kind: 'verify', userId }, shop.clock.now()))
  )

describe('a profile', () => {
  it('is changed where something was sent, names in both places, and stays where nothing was', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, firstName: 'Mira', lastName: 'Okafor', billingPhone: '+49 30' })
    const change = { displayName: 'Mira O.', firstName: 'Miriam', billingPhone: null, companyName: 'Slow Coast' }
    const changed = write(shop.db, (tx) => updateProfile(tx, user.id, change, 7))
    expect(changed).toEqual({ ...user, ...change, updatedAt: 7 })
    expect(shop.db.sqlite.prepare('SELECT first_name, last_name FROM registration_profiles').get()).toEqual({
      first_name: 'Miriam',
      last_name: 'Okafor'
    })
    expect(write(shop.db, (tx) => updateProfile(tx, user.id, {}, 9))).toEqual({ ...changed, updatedAt: 9 })
  })

  it('clears a name in both places, so that nothing falls back to it', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, firstName: 'Mira', lastName: 'Okafor' })
    const changed = write(shop.db, (tx) => updateProfile(tx, user.id, { firstName: null }, 7))
    expect(toProfile(shop.db, changed)).toEqual({ firstName: null, lastName: 'Okafor' })
  })

  it('keeps a name of an account that had no registration profile', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, lastName: 'Okafor' })
    shop.db.sqlite.prepare('DELETE FROM registration_profiles').run()
    const changed = write(shop.db, (tx) => updateProfile(tx, user.id, { firstName: 'Mira' }, 7))
    expect(toProfile(shop.db, changed)).toEqual({ firstName: 'Mira', lastName: 'Okafor' })
  })

  it('of an account that is shut or erased is not written any more', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, firstName: 'Mira' })
    const rename = () => write(shop.db, (tx) => updateProfile(tx, user.id, { firstName: 'Late' }, 7))
    write(shop.db, (tx) => deactivateUser(tx, user.id, 5))
    expect(rename).toThrow(expect.objectContaining({ code: 'NOT_AUTHENTICATED' }))
    write(shop.db, (tx) => eraseUser(tx, user.id, 6, nobodyElse))
    expect(rename).toThrow(expect.objectContaining({ code: 'NOT_AUTHENTICATED' }))
    expect(getUserById(shop.db, user.id).firstName).toBeNull()
  })

  it('with a word on marketing has its time and biography rewritten', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    const at = shop.clock.now() + 1000
    const yes = write(shop.db, (tx) => updateProfile(tx, user.id, { marketingOptIn: true }, at))
    expect(yes).toMatchObject({ marketingOptIn: 'yes', marketingOptInAt: at })
    expect(yes.biography).toMatch(
      /^Customer marketing opt-in: yes\nCustomer marketing opt-in at: 2026-01-15T12:00:01.000Z\n/
    )
    const no = write(shop.db, (tx) => updateProfile(tx, user.id, { marketingOptIn: false }, at))
    expect(no).toMatchObject({ marketingOptIn: 'no', marketingOptInAt: null, biography: user.biography })
  })
})

describe('deactivation', () => {
  it('ends sessions and open links at once, is told once, and can be taken back', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, verificationPending: true })
    const token = tokenFor(shop, user.id)
    logIn(shop, user)
    for (let times = 0; times < 2; times += 1) {
      expect(write(shop.db, (tx) => deactivateUser(tx, user.id, shop.clock.now())).status).toBe('deactivated')
    }
    expect(countOf(shop, 'sessions')).toBe(0)
    expect(eventsOf(shop)).toEqual(['account.registered', 'account.deactivated'])
    const attempt = verifyEmail(shop, token, caller(), shop.clock.now(), nothingMore)
    await expect(attempt).rejects.toThrow(refusal('TOKEN_INVALID'))
    expect(write(shop.db, (tx) => activateUser(tx, user.id, shop.clock.now())).status).toBe('active')
    expect(countOf(shop, 'sessions')).toBe(0)
  })
})

describe('administrators', () => {
  it('are granted and revoked; either ends the sessions, doing it again changes nothing', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    for (const isAdmin of [true, false]) {
      logIn(shop, user)
      const first = write(shop.db, (tx) => setAdministrator(tx, user.id, isAdmin, 5))
      expect(first).toMatchObject({ changed: true, user: { isAdmin } })
      expect(countOf(shop, 'sessions')).toBe(0)
      expect(listAdministrators(shop.db).map(({ id }) => id)).toEqual(isAdmin ? [user.id] : [])
      logIn(shop, user)
      expect(write(shop.db, (tx) => setAdministrator(tx, user.id, isAdmin, 5)).changed).toBe(false)
      expect(countOf(shop, 'sessions')).toBe(1)
      write(shop.db, (tx) => endUserSessions(tx, user.id))
    }
  })
})

describe('the list of accounts', () => {
  it('is newest first, by status and by part of a name or email, and goes on where it stopped', async () => {
    using shop = openTestShop()
    const mira = await makeUser(shop, { passwordHash })
    const jonas = await makeUser(shop, { passwordHash, email: 'Jonas_100%@shop.example', displayName: 'Jonas Öhler' })
    write(shop.db, (tx) => deactivateUser(tx, jonas.id, 5))
    const ids = (filter: object) => listUsers(shop.db, { limit: 10, ...filter }).map(({ id }) => id)
    expect(ids({})).toEqual([jonas.id, mira.id])
    expect(ids({ limit: 1 })).toEqual([jonas.id])
    expect(ids({ beforeId: jonas.id })).toEqual([mira.id])
    expect(ids({ status: 'deactivated' })).toEqual([jonas.id])
    expect(ids({ search: 'JONAS_1' })).toEqual([jonas.id])
    expect(ids({ search: '%' })).toEqual([jonas.id])
    expect(ids({ search: 'Okafor' })).toEqual([mira.id])
    expect(ids({ search: 'jonas öh' })).toEqual([jonas.id])
  })
})

describe('a person who is erased', () => {
  const everything = {
    email: 'mira.okafor@shop.example',
    displayName: 'Mira Okafor',
    firstName: 'Mira',
    lastName: 'Okafor',
    billingEmail: 'okafor@slowcoast.example',
    billingPhone: '+49 30 5550142',
    companyName: 'Okafor & Co',
    marketingOptIn: true,
    isAdmin: true
  }

  it('is found in no table any more, cannot log in, and leaves the row for the orders', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, everything)
    logIn(shop, user)
    tokenFor(shop, user.id)
    const mail = { template: 'password_changed', recipient: user.email, data: { userId: user.id } } as const
    write(shop.db, (tx) => queueMail(tx, mail, 0))
    shop.db.sqlite.prepare(`UPDATE mails SET state = 'sent', last_error = '550 <mira.okafor@shop.example>'`).run()
    write(shop.db, (tx) => queueMail(tx, mail, 0))
    const told: string[] = []
    const erased = write(shop.db, (tx) =>
      eraseUser(tx, user.id, shop.clock.now(), (_tx, before, email) => void told.push(before.email, email))
    )
    expect(erased).toMatchObject({ id: user.id, status: 'erased', email: `erased-${user.id}@erased.invalid` })
    expect(erased).toMatchObject({ isAdmin: false, biography: null, createdAt: user.createdAt })
    expect(told).toEqual([user.email, erased.email])
    const tables = shop.db.sqlite
      .prepare<[], { name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
      .all()
    const kept = tables.map(({ name }) => shop.db.sqlite.prepare(`SELECT * FROM "${name}"`).all())
    expect(JSON.stringify(kept)).not.toMatch(/mira|okafor|5550142|slowcoast/i)
    expect(mailsOf(shop)).toMatchObject([{ state: 'sent', recipient: erased.email }])
    expect([countOf(shop, 'sessions'), countOf(shop, 'email_tokens')]).toEqual([0, 0])
    expect(findUserByEmail(shop.db, user.email)).toBeUndefined()
  })

  it('is erased whatever names others have registered', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    await makeUser(shop, { email: `erased-${user.id}@erased.invalid`, username: `erased-${user.id}` })
    write(shop.db, (tx) => eraseUser(tx, user.id, shop.clock.now(), () => undefined))
    expect(getUserById(shop.db, user.id).status).toBe('erased')
  })

  it('is erased once, and is neither activated nor made administrator again', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    const erase = () => write(shop.db, (tx) => eraseUser(tx, user.id, shop.clock.now(), nobodyElse))
    const first = erase()
    shop.clock.advance(1000)
    expect(erase()).toEqual(first)
    expect(eventsOf(shop)).toEqual(['account.registered', 'account.deactivated'])
    for (const act of [activateUser, deactivateUser]) {
      expect(() => write(shop.db, (tx) => act(tx, user.id, 5))).toThrow(refusal('CONFLICT'))
    }
    expect(() => write(shop.db, (tx) => setAdministrator(tx, user.id, true, 5))).toThrow(refusal('CONFLICT'))
  })

  it('stays whole when what stands above cannot let go of him', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    const fails = () => {
      throw new Error('orders are stuck')
    }
    expect(() => write(shop.db, (tx) => eraseUser(tx, user.id, 5, fails))).toThrow('stuck')
    expect(getUserById(shop.db, user.id)).toEqual(user)
  })

  it('frees the email for somebody else', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    write(shop.db, (tx) => eraseUser(tx, user.id, 5, nobodyElse))
    await expect(makeUser(shop, { passwordHash })).resolves.toMatchObject({ username: 'mira' })
  })
})

describe('an export', () => {
  it('holds everything of the person and no secret', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { firstName: 'Mira', companyName: 'Slow Coast', marketingOptIn: true })
    const { session } = logIn(shop, user)
    const document = exportUser(shop.db, user, ['customer'], { orders: [{ id: 1 }] }, shop.clock.now())
    expect(document).toMatchObject({
      exportedAt: '2026-01-15T12:00:00.000Z',
      user: { email: user.email, roles: ['customer'], companyName: 'Slow Coast' },
      account: {
        username: 'mira',
        status: 'active',
        profile: { firstName: 'Mira', lastName: null },
        registrationConsent: { marketingOptIn: true },
        marketingOptIn: 'yes',
        biography: user.biography
      },
      sessions: [{ createdAt: '2026-01-15T12:00:00.000Z', rememberMe: false }],
      messages: [],
      orders: [{ id: 1 }]
    })
    expect(JSON.stringify(document)).not.toMatch(new RegExp(`argon2|${session.tokenHash}`))
  })
})
