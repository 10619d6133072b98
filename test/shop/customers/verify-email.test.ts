import { createSecretKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { createEmailToken, deriveEmailToken, purgeEmailTokens } from '../../../src/shop/accounts/email-tokens.ts'
import { getUserById } from '../../../src/shop/accounts/find.ts'
import { loginInput } from '../../../src/shop/accounts/input.ts'
import { login } from '../../../src/shop/accounts/login.ts'
import { resendVerification } from '../../../src/shop/accounts/recover.ts'
import { confirmEmail, verifyEmail } from '../../../src/shop/customers/verify-email.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { atOnce, countOf, eventsOf, mailsOf, newestToken, refusal, tally } from '../../support/accounts.ts'
import { caller, goodPassword, makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { draft, line, makeProduct, move, place } from '../orders/support.ts'

const hour = 3_600_000
const verify = (shop: TestShop, token: string, from = caller(), password = goodPassword) =>
  verifyEmail(shop, { token, password }, from, shop.clock.now())
const pendingUser = (shop: TestShop) => makeUser(shop, { verificationPending: true })
const send = (shop: TestShop, email = 'mira@shop.example') =>
  resendVerification(shop, { email, addressKey: '192.0.2.7' }, shop.clock.now())

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
    const other = { ...shop.keys, emailToken: createSecretKey(Buffer.alloc(32)) }
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

  it('sent 20 times concurrently works once', async () => {
    using shop = openTestShop()
    await pendingUser(shop)
    await send(shop)
    const token = newestToken(shop)
    const results = await atOnce(20, () => verify(shop, token))
    expect(tally(results)).toEqual({ in: 1, TOKEN_INVALID: 19 })
    expect(eventsOf(shop)).toEqual(['account.registered', 'account.verified'])
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
    expect(write(shop.db, (tx) => purgeEmailTokens(tx, shop.clock.now() + 30 * 24 * hour, 9))).toBe(0)
    expect(write(shop.db, (tx) => purgeEmailTokens(tx, shop.clock.now() + 31 * 24 * hour, 9))).toBe(1)
  })
})

describe('a guest order with an email that is verified', () => {
  const guestOrder = (shop: TestShop): number => {
    const grants = [{ kind: 'course' as const, course: 'wick-trimming' }]
    const lines = [line(makeProduct(shop.db), { type: 'digital', grants })]
    const { id } = place(shop.db, draft(lines, { email: 'MIRA@shop.example' }), shop.clock.now())
    move(shop.db, id, 'completed', {}, shop.clock.now())
    return id
  }

  it('stays a guest order, and the token valid, when it cannot be moved into the account', async () => {
    using shop = openTestShop()
    const user = await pendingUser(shop)
    const orderId = guestOrder(shop)
    await send(shop)
    const token = newestToken(shop)
    shop.db.sqlite.exec(
      `CREATE TRIGGER stuck BEFORE UPDATE OF user_id ON orders BEGIN SELECT raise(ABORT, 'orders are stuck'); END`
    )
    await expect(verify(shop, token)).rejects.toThrow('orders are stuck')
    expect(getUserById(shop.db, user.id).verificationPending).toBe(true)
    shop.db.sqlite.exec('DROP TRIGGER stuck')
    await expect(verify(shop, token)).resolves.toBeDefined()
    expect(getOrder(shop.db, orderId).userId).toBe(user.id)
  })

  it('is moved into the account once, also when an operator confirms the email', async () => {
    using shop = openTestShop()
    const user = await pendingUser(shop)
    const orderId = guestOrder(shop)
    for (let times = 0; times < 2; times += 1) confirmEmail(shop.db, user.id, shop.clock.now())
    expect(getOrder(shop.db, orderId).userId).toBe(user.id)
    expect(countOf(shop, 'enrolments')).toBe(1)
    expect(eventsOf(shop).filter((type) => type === 'account.verified')).toHaveLength(1)
  })
})
