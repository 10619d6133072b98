import { describe, expect, it } from 'vitest'
import { findUserByEmail, getUserById } from '../../../src/shop/accounts/find.ts'
import { forgotPassword } from '../../../src/shop/accounts/recover.ts'
import { updateProfile } from '../../../src/shop/accounts/update-profile.ts'
import { composeEmail } from '../../../src/shop/mailer/compose.ts'
import { setPassword } from '../../../src/shop/accounts/set-password.ts'
import { findSession } from '../../../src/shop/accounts/sessions.ts'
import { resetPassword } from '../../../src/shop/customers/reset-password.ts'
import { atOnce, countOf, logIn, mailsOf, newestToken, outcome, refusal, tally } from '../../support/accounts.ts'
import { caller, makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const newPassword = 'paper-lighthouse-7'
const forget = (shop: TestShop) =>
  forgotPassword(shop, { email: 'mira@shop.example', addressKey: '192.0.2.7' }, shop.clock.now())
const reset = (shop: TestShop, token: string, password = newPassword) =>
  resetPassword(shop, { token, password }, caller(), shop.clock.now())

describe('a forgotten password', () => {
  it('is replaced by the link’s token: sessions end, the owner is notified, the email is verified', async () => {
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

describe('the billing email', () => {
  const withBillingEmail = async (shop: TestShop, billingEmail: string) => {
    const user = await makeUser(shop)
    await updateProfile(shop, user.id, { billingEmail }, shop.clock.now())
    return user
  }
  const sentTexts = (shop: TestShop) =>
    mailsOf(shop)
      .filter(({ template }) => template === 'password_changed')
      .map((mail) => composeEmail(shop, { ...mail, data: JSON.parse(mail.data) }, shop.clock.now()).opening.join(' '))

  it('does not survive a reset, because a person who had taken the account over may have set it', async () => {
    using shop = openTestShop()
    const user = await withBillingEmail(shop, 'mallory@evil.example')
    await forget(shop)
    await reset(shop, newestToken(shop))
    expect(getUserById(shop.db, user.id).billingEmail).toBeNull()
    expect(sentTexts(shop)).toEqual([expect.stringContaining('billing email other than this one. We removed it.')])
  })

  it('does not survive a new password from an operator either', async () => {
    using shop = openTestShop()
    const user = await withBillingEmail(shop, 'mallory@evil.example')
    await setPassword(shop, user, newPassword, shop.clock.now())
    expect(getUserById(shop.db, user.id).billingEmail).toBeNull()
  })

  it('stays when it is the email of the account', async () => {
    using shop = openTestShop()
    const user = await withBillingEmail(shop, 'Mira@shop.example')
    await forget(shop)
    await reset(shop, newestToken(shop))
    expect(getUserById(shop.db, user.id).billingEmail).toBe('Mira@shop.example')
    expect(sentTexts(shop)).toEqual([expect.not.stringContaining('billing email')])
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

  it('sent 10 times concurrently sets one password', async () => {
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
