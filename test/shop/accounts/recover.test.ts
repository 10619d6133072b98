import { describe, expect, it } from 'vitest'
import { findUserByEmail, getUserById } from '../../../src/shop/accounts/find.ts'
import { forgotPassword, resendVerification, resetPassword } from '../../../src/shop/accounts/recover.ts'
import { setPassword } from '../../../src/shop/accounts/set-password.ts'
import { findSession } from '../../../src/shop/accounts/sessions.ts'
import {
  atOnce,
  countOf,
  logIn,
  mailsOf,
  newestToken,
  nothingMore,
  outcome,
  refusal,
  tally
} from '../../support/accounts.ts'
import { caller, makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const newPassword = 'paper-lighthouse-7'
const forget = (shop: TestShop, email = 'mira@shop.example') => forgotPassword(shop, email, shop.clock.now())
const reset = (shop: TestShop, token: string, password = newPassword) =>
  resetPassword(shop, { token, password }, caller(), shop.clock.now(), nothingMore)

describe('a forgotten password', () => {
  it('is asked for without learning whether there is such an account', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    const closed = await makeUser(shop, { email: 'closed@shop.example' })
    shop.db.sqlite.prepare(`UPDATE users SET status = 'deactivated' WHERE id = ?`).run(closed.id)
    for (const email of ['nobody@shop.example', 'closed@shop.example', ' Mira@SHOP.example']) {
      expect(await forget(shop, email)).toBeUndefined()
    }
    expect(mailsOf(shop)).toMatchObject([{ template: 'reset_password', recipient: 'mira@shop.example' }])
    expect(countOf(shop, 'email_tokens')).toBe(1)
  })

  it('is asked for five times an hour for one email, known or not, together with verification links', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    for (const email of ['mira@shop.example', 'nobody@shop.example']) {
      for (let index = 0; index < 5; index += 1) {
        await (index % 2 === 0 ? forget(shop, email) : resendVerification(shop, email, shop.clock.now()))
      }
      await expect(forget(shop, email.toUpperCase())).rejects.toThrow(
        refusal('AUTH_RATE_LIMITED', { bucket: 'recovery_email' })
      )
    }
  })

  it('is replaced by the link’s token: sessions end, the owner is told, the email is verified', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { verificationPending: true })
    const { session } = logIn(shop, user)
    await forget(shop)
    const changed = await reset(shop, newestToken(shop))
    expect(await shop.passwords.verify(changed.passwordHash, newPassword)).toBe(true)
    expect(changed).toMatchObject({ verificationPending: false, emailVerifiedAt: shop.clock.now() })
    expect(getUserById(shop.db, user.id)).toEqual(changed)
    expect(findSession(shop.db, session.tokenHash, shop.clock.now())).toBeUndefined()
    expect(countOf(shop, 'sessions')).toBe(0)
    expect(mailsOf(shop).map(({ template }) => template)).toEqual(['reset_password', 'password_changed'])
  })
})

describe('a reset token', () => {
  it('stays good when the password is refused', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    await forget(shop)
    const token = newestToken(shop)
    await expect(reset(shop, token, 'password1')).rejects.toThrow(
      refusal('PASSWORD_POLICY_VIOLATION', { reason: 'password_policy', rules: ['common'] })
    )
    await expect(reset(shop, token)).resolves.toBeDefined()
  })

  it('works for an hour', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    await forget(shop)
    const token = newestToken(shop)
    shop.clock.advance(3_600_000)
    await expect(reset(shop, token)).rejects.toThrow(refusal('TOKEN_INVALID'))
    shop.clock.advance(-1)
    await expect(reset(shop, token)).resolves.toBeDefined()
  })

  it('sent in 10 times at once sets one password', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    await forget(shop)
    const token = newestToken(shop)
    const results = await atOnce(10, (index) => reset(shop, token, `${newPassword}-${index}`))
    expect(tally(results)).toEqual({ in: 1, TOKEN_INVALID: 9 })
    const winner = results.findIndex((result) => outcome(result) === 'in')
    const stored = findUserByEmail(shop.db, 'mira@shop.example')?.passwordHash ?? ''
    expect(await shop.passwords.verify(stored, `${newPassword}-${winner}`)).toBe(true)
  })

  it('ends with a password that is set in another way', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    await forget(shop)
    const token = newestToken(shop)
    await setPassword(shop, user, newPassword, shop.clock.now())
    await expect(reset(shop, token)).rejects.toThrow(refusal('TOKEN_INVALID'))
  })

  it('is not looked for by its stored hash', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    await forget(shop)
    const stored = shop.db.sqlite.prepare('SELECT token_hash FROM email_tokens').pluck().get()
    await expect(reset(shop, String(stored))).rejects.toThrow(refusal('TOKEN_INVALID'))
  })
})
