import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { createEmailToken, deriveEmailToken, purgeEmailTokens } from '../../../src/shop/accounts/email-tokens.ts'
import { getUserById } from '../../../src/shop/accounts/find.ts'
import { loginInput } from '../../../src/shop/accounts/input.ts'
import { login } from '../../../src/shop/accounts/login.ts'
import { resendVerification } from '../../../src/shop/accounts/recover.ts'
import { markVerified, verifyEmail } from '../../../src/shop/accounts/verify-email.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { atOnce, countOf, eventsOf, mailsOf, newestToken, nothingMore, refusal, tally } from '../../support/accounts.ts'
import { caller, goodPassword, makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const hour = 3_600_000
const verify = (shop: TestShop, token: string, from = caller()) =>
  verifyEmail(shop, token, from, shop.clock.now(), nothingMore)
const pendingUser = (shop: TestShop) => makeUser(shop, { verificationPending: true })
const send = (shop: TestShop, email = 'mira@shop.example') => resendVerification(shop, email, shop.clock.now())

describe('a verification token', () => {
  it('lets the account log in, but does not log it in', async () => {
    using shop = openTestShop()
    const user = await pendingUser(shop)
    await send(shop)
    const verified = await verify(shop, newestToken(shop))
    expect(verified).toMatchObject({ id: user.id, emailVerifiedAt: shop.clock.now(), verificationPending: false })
    expect(countOf(shop, 'sessions')).toBe(0)
    expect(eventsOf(shop)).toEqual(['account.registered', 'account.verified'])
    const input = loginInput.parse({ email: user.email, password: goodPassword })
    await expect(login(shop, input, caller(), shop.clock.now())).resolves.toBeDefined()
  })

  it('is stored as a hash alone, and made again from its row and the secret', async () => {
    using shop = openTestShop()
    await pendingUser(shop)
    await send(shop)
    const token = newestToken(shop)
    expect(token).toMatch(/^[\w-]{43}$/)
    const stored = JSON.stringify([shop.db.sqlite.prepare('SELECT * FROM email_tokens').all(), mailsOf(shop)])
    expect(stored).not.toContain(token)
    const other = { ...shop.keys, emailToken: Buffer.alloc(32) }
    const row = write(shop.db, (tx) => createEmailToken(tx, shop.keys, { kind: 'verify', userId: 1 }, 0))
    expect(deriveEmailToken(other, row)).not.toBe(deriveEmailToken(shop.keys, row))
  })

  it('works once', async () => {
    using shop = openTestShop()
    await pendingUser(shop)
    await send(shop)
    const token = newestToken(shop)
    await verify(shop, token)
    await expect(verify(shop, token)).rejects.toThrow(refusal('TOKEN_INVALID'))
  })

  it('sent in 20 times at once works once', async () => {
    using shop = openTestShop()
    await pendingUser(shop)
    await send(shop)
    const token = newestToken(shop)
    const joined: number[] = []
    const results = await atOnce(20, () =>
      verifyEmail(shop, token, caller(), shop.clock.now(), (_tx, { id }) => void joined.push(id))
    )
    expect(tally(results)).toEqual({ in: 1, TOKEN_INVALID: 19 })
    expect(joined).toHaveLength(1)
  })

  it('works for 24 hours', async () => {
    using shop = openTestShop()
    await pendingUser(shop)
    await send(shop)
    const token = newestToken(shop)
    shop.clock.advance(24 * hour)
    await expect(verify(shop, token)).rejects.toThrow(refusal('TOKEN_INVALID'))
    shop.clock.advance(-1)
    await expect(verify(shop, token)).resolves.toBeDefined()
  })

  it('ends when another is asked for', async () => {
    using shop = openTestShop()
    await pendingUser(shop)
    await send(shop)
    const first = newestToken(shop)
    await send(shop)
    await expect(verify(shop, first)).rejects.toThrow(refusal('TOKEN_INVALID'))
    await expect(verify(shop, newestToken(shop))).resolves.toBeDefined()
  })

  it('does not work where a reset token is asked for, nor the other way round', async () => {
    using shop = openTestShop()
    const { id: userId } = await pendingUser(shop)
    const reset = write(shop.db, (tx) => createEmailToken(tx, shop.keys, { kind: 'reset', userId }, shop.clock.now()))
    await expect(verify(shop, deriveEmailToken(shop.keys, reset))).rejects.toThrow(refusal('TOKEN_INVALID'))
  })

  it('that is wrong counts against its address, a right one does not', async () => {
    using shop = openTestShop()
    await pendingUser(shop)
    setSetting(shop.db, 'limits.token_ip', '5/60', 0)
    await send(shop)
    const results = await atOnce(20, () => verify(shop, 'made up'))
    expect(tally(results)).toEqual({ TOKEN_INVALID: 5, AUTH_RATE_LIMITED: 15 })
    await expect(verify(shop, newestToken(shop))).rejects.toThrow(refusal('AUTH_RATE_LIMITED', { bucket: 'token_ip' }))
    const elsewhere = caller({ addressKey: '198.51.100.1' })
    await expect(verify(shop, newestToken(shop), elsewhere)).resolves.toBeDefined()
  })

  it('is kept a month after its end and then removed', async () => {
    using shop = openTestShop()
    await pendingUser(shop)
    await send(shop)
    expect(write(shop.db, (tx) => purgeEmailTokens(tx, shop.clock.now() + 30 * 24 * hour))).toBe(0)
    expect(write(shop.db, (tx) => purgeEmailTokens(tx, shop.clock.now() + 31 * 24 * hour))).toBe(1)
  })
})

describe('what follows from a verified email', () => {
  it('is undone with it when it fails', async () => {
    using shop = openTestShop()
    const user = await pendingUser(shop)
    await send(shop)
    const token = newestToken(shop)
    const fails = () => {
      throw new Error('orders cannot be claimed')
    }
    await expect(verifyEmail(shop, token, caller(), shop.clock.now(), fails)).rejects.toThrow('claimed')
    expect(getUserById(shop.db, user.id).verificationPending).toBe(true)
    await expect(verify(shop, token)).resolves.toBeDefined()
  })

  it('happens once, also when an operator verifies', async () => {
    using shop = openTestShop()
    const user = await pendingUser(shop)
    const joined: number[] = []
    for (let times = 0; times < 2; times += 1) {
      write(shop.db, (tx) => markVerified(tx, user.id, shop.clock.now(), (_tx, { id }) => void joined.push(id)))
    }
    expect(joined).toEqual([user.id])
    expect(eventsOf(shop)).toEqual(['account.registered', 'account.verified'])
  })
})

describe('asking for the verification link again', () => {
  it('sends it to whoever has not verified, and to nobody else, without a difference in the answer', async () => {
    using shop = openTestShop()
    await makeUser(shop, { email: 'done@shop.example', verified: true })
    const closed = await makeUser(shop, { email: 'closed@shop.example', verificationPending: true })
    shop.db.sqlite.prepare(`UPDATE users SET status = 'deactivated' WHERE id = ?`).run(closed.id)
    await pendingUser(shop)
    const emails = ['done@shop.example', 'closed@shop.example', 'nobody@shop.example', 'MIRA@shop.example']
    for (const email of emails) expect(await send(shop, email)).toBeUndefined()
    expect(mailsOf(shop)).toMatchObject([{ template: 'verify_email', recipient: 'mira@shop.example' }])
    expect(countOf(shop, 'email_tokens')).toBe(1)
    expect(shop.db.sqlite.pragma('foreign_key_check')).toEqual([])
  })
})
