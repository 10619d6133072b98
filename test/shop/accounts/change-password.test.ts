import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { changePassword, replaceImportedHash } from '../../../src/shop/accounts/set-password.ts'
import { getUserById } from '../../../src/shop/accounts/find.ts'
import { findSession } from '../../../src/shop/accounts/sessions.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { atOnce, countOf, logIn, mailsOf, refusal, tally } from '../../support/accounts.ts'
import { goodPassword, makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const newPassword = 'paper-lighthouse-7'
type Identity = ReturnType<typeof logIn>

const change = (shop: TestShop, identity: Identity, input: { currentPassword?: string; newPassword?: string } = {}) =>
  changePassword(shop, { currentPassword: goodPassword, newPassword, ...input }, { identity }, shop.clock.now())

describe('changing the password', () => {
  it('ends every session, goes on under a new token, and tells the owner', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    const elsewhere = logIn(shop, user)
    const identity = logIn(shop, user, true)
    const { session, user: changed } = await change(shop, identity)
    expect(await shop.passwords.verify(changed.passwordHash, newPassword)).toBe(true)
    expect(countOf(shop, 'sessions')).toBe(1)
    expect([identity.session.tokenHash, elsewhere.session.tokenHash]).not.toContain(session.tokenHash)
    expect(findSession(shop.db, session.token, shop.clock.now())?.session.rememberMe).toBe(true)
    expect(mailsOf(shop)).toMatchObject([{ template: 'password_changed', recipient: user.email }])
  })

  it('requires the current one, and counts wrong ones as failed logins', async () => {
    using shop = openTestShop()
    const identity = logIn(shop, await makeUser(shop))
    setSetting(shop.db, 'limits.login_account', '2/60', 0)
    for (let times = 0; times < 2; times += 1) {
      await expect(change(shop, identity, { currentPassword: 'wrong' })).rejects.toThrow(
        refusal('AUTH_INVALID_CREDENTIALS')
      )
    }
    await expect(change(shop, identity)).rejects.toThrow(refusal('AUTH_RATE_LIMITED', { bucket: 'login_account' }))
    expect(countOf(shop, 'sessions')).toBe(1)
  })

  it('keeps to the rules of passwords', async () => {
    using shop = openTestShop()
    const identity = logIn(shop, await makeUser(shop))
    await expect(change(shop, identity, { newPassword: 'Mira Okafor' })).rejects.toThrow(
      refusal('PASSWORD_POLICY_VIOLATION', { rules: ['personal'] })
    )
  })

  it('ten times concurrently succeeds once', async () => {
    using shop = openTestShop()
    const identity = logIn(shop, await makeUser(shop))
    const results = await atOnce(10, (index) => change(shop, identity, { newPassword: `${newPassword}-${index}` }))
    expect(tally(results)).toEqual({ in: 1, AUTH_INVALID_CREDENTIALS: 9 })
    expect(countOf(shop, 'sessions')).toBe(1)
  })

  it('does not open a deactivated account again', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    const identity = logIn(shop, user)
    shop.db.sqlite.prepare(`UPDATE users SET status = 'deactivated'`).run()
    await expect(change(shop, identity)).rejects.toThrow(refusal('NOT_AUTHENTICATED'))
    expect(getUserById(shop.db, user.id).passwordHash).toBe(user.passwordHash)
  })

  it('is all or nothing', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    const identity = logIn(shop, user)
    shop.db.sqlite.exec(`CREATE TRIGGER t BEFORE INSERT ON sessions BEGIN SELECT RAISE(ABORT, 'disk trouble'); END`)
    await expect(change(shop, identity)).rejects.toThrow('disk trouble')
    expect(getUserById(shop.db, user.id)).toEqual(user)
    expect([countOf(shop, 'sessions'), countOf(shop, 'mails')]).toEqual([1, 0])
  })
})

describe('the hash that an account brought from another shop', () => {
  const imported = ['$P$984478476IagS59wHZvyQMArzfx58u.', '$P$BVKaNYt.FnYvdcBiOZ1pMrzfQqk5nb1']

  it('follows the other shop until a password is set here, and that of another account stays', async () => {
    using shop = openTestShop()
    const [old = '', newer = ''] = imported
    const lena = await makeUser(shop, { email: 'lena@shop.example', passwordHash: old })
    const noah = await makeUser(shop, { email: 'noah@shop.example', passwordHash: old })
    const own = await makeUser(shop, { email: 'own@shop.example' })
    const replace = (userId: number, hash: string): boolean =>
      write(shop.db, (tx) => replaceImportedHash(tx, userId, hash))
    const hashOf = (userId: number): string => getUserById(shop.db, userId).passwordHash
    expect([replace(lena.id, old), replace(lena.id, 'not a hash'), replace(0, newer)]).toEqual([false, false, false])
    expect(replace(lena.id, newer)).toBe(true)
    expect([hashOf(lena.id), hashOf(noah.id)]).toEqual([newer, old])
    expect(replace(own.id, newer)).toBe(false)
    expect(hashOf(own.id)).toBe(own.passwordHash)
  })
})
