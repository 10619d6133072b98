import { describe, expect, it } from 'vitest'
import { forgotPassword, resendVerification } from '../../../src/shop/accounts/recover.ts'
import { countOf, mailsOf } from '../../support/accounts.ts'
import { makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const addressKey = '192.0.2.7'
const forget = (shop: TestShop, email: string) => forgotPassword(shop, { email, addressKey }, shop.clock.now())
const resend = (shop: TestShop, email: string) => resendVerification(shop, { email, addressKey }, shop.clock.now())

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

  it('is sent five times an hour for one email, together with verification links, and then silently not at all', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    for (const email of ['mira@shop.example', 'nobody@shop.example']) {
      for (let index = 0; index < 5; index += 1) {
        await (index % 2 === 0 ? forget(shop, email) : resend(shop, email))
      }
      await forget(shop, email.toUpperCase())
    }
    expect(mailsOf(shop)).toHaveLength(5)
  })
})

describe('asking for the verification link again', () => {
  it('sends it only to an unverified user, without a difference in the response', async () => {
    using shop = openTestShop()
    await makeUser(shop, { email: 'done@shop.example', verified: true })
    const closed = await makeUser(shop, { email: 'closed@shop.example', verificationPending: true })
    shop.db.sqlite.prepare(`UPDATE users SET status = 'deactivated' WHERE id = ?`).run(closed.id)
    await makeUser(shop, { verificationPending: true })
    const emails = ['done@shop.example', 'closed@shop.example', 'nobody@shop.example', 'MIRA@shop.example']
    for (const email of emails) expect(await resend(shop, email)).toBeUndefined()
    expect(mailsOf(shop)).toMatchObject([{ template: 'verify_email', recipient: 'mira@shop.example' }])
    expect(countOf(shop, 'email_tokens')).toBe(1)
    expect(shop.db.sqlite.pragma('foreign_key_check')).toEqual([])
  })
})
