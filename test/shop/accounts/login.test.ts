import { describe, expect, it } from 'vitest'
import { hash } from '@node-rs/argon2'
import { createPasswordHasher } from '../../../src/platform/crypto/passwords.ts'
import type { PasswordHasher } from '../../../src/platform/crypto/passwords.ts'
import { tokenHash } from '../../../src/platform/crypto/secrets.ts'
import { write } from '../../../src/platform/db/database.ts'
import { getUserById } from '../../../src/shop/accounts/find.ts'
import { loginInput } from '../../../src/shop/accounts/input.ts'
import { login } from '../../../src/shop/accounts/login.ts'
import { logout, findSession } from '../../../src/shop/accounts/sessions.ts'
import { checkNonce, issueNonce } from '../../../src/shop/accounts/nonce.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { atOnce, outcome, refusal, tally } from '../../support/accounts.ts'
import { caller, goodPassword, makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { laterBy } from '../../support/later.ts'

const send = (shop: TestShop, body: object = {}, from = caller()) =>
  login(shop, loginInput.parse({ email: 'mira@shop.example', password: goodPassword, ...body }), from, shop.clock.now())

describe('a login', () => {
  it('takes the email, the username, or the email as a username; the email wins', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    const bodies = [
      {},
      { email: 'MIRA@Shop.example ' },
      { email: null, username: 'Mira' },
      { email: '', username: 'mira@SHOP.example' },
      { username: 'somebody-else' }
    ]
    for (const body of bodies) expect((await send(shop, body)).user.id).toBe(user.id)
    await expect(send(shop, { email: 'nobody@shop.example', username: 'mira' })).rejects.toThrow(
      refusal('AUTH_INVALID_CREDENTIALS')
    )
  })

  it('answers an unknown account and a wrong password with the same words', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    const wrong = await send(shop, { password: 'wrong' }).catch((error: unknown) => error)
    const unknown = await send(shop, { email: 'nobody@shop.example' }).catch((error: unknown) => error)
    expect(wrong).toMatchObject({ code: 'AUTH_INVALID_CREDENTIALS', status: 401 })
    expect(unknown).toEqual(wrong)
  })

  it('compares the password exactly as it was sent', async () => {
    using shop = openTestShop()
    const password = ' Pa\u0308sse \u{1F512} harbour '
    await makeUser(shop, { passwordHash: await shop.passwords.hash(password) })
    for (const other of [password.trim(), password.normalize('NFC'), password.toLowerCase(), `${password}\u0000`]) {
      await expect(send(shop, { password: other })).rejects.toThrow(refusal('AUTH_INVALID_CREDENTIALS'))
    }
    await expect(send(shop, { password })).resolves.toBeDefined()
  })

  it('reveals a deactivated or unverified account only after the right password, deactivation first', async () => {
    using shop = openTestShop()
    await makeUser(shop, { verificationPending: true })
    await expect(send(shop, { password: 'wrong' })).rejects.toThrow(refusal('AUTH_INVALID_CREDENTIALS'))
    await expect(send(shop)).rejects.toThrow(refusal('AUTH_EMAIL_NOT_VERIFIED'))
    shop.db.sqlite.prepare(`UPDATE users SET status = 'deactivated'`).run()
    await expect(send(shop, { password: 'wrong' })).rejects.toThrow(refusal('AUTH_INVALID_CREDENTIALS'))
    await expect(send(shop)).rejects.toThrow(refusal('AUTH_ACCOUNT_DEACTIVATED'))
    expect(shop.db.sqlite.prepare('SELECT count(*) FROM sessions').pluck().get()).toBe(0)
  })

  it('starts a session of its own and ends the one it came with', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    const first = await send(shop)
    const found = findSession(shop.db, first.session.token, shop.clock.now())
    const second = await send(shop, { rememberMe: true }, caller({ identity: found ?? null }))
    expect(second.session.token).not.toBe(first.session.token)
    expect(second.session.maxAgeSeconds).toBe(2_592_000)
    expect(findSession(shop.db, first.session.token, shop.clock.now())).toBeUndefined()
    expect(findSession(shop.db, second.session.token, shop.clock.now())).toBeDefined()
  })

  it('hashes the password again when the parameters have changed, even in concurrent logins', async () => {
    using shop = { ...openTestShop(), passwords: createPasswordHasher() }
    const old = await hash(goodPassword, { memoryCost: 8192, timeCost: 2, parallelism: 1 })
    const user = await makeUser(shop, { passwordHash: old })
    expect(tally(await atOnce(5, () => send(shop)))).toEqual({ in: 5 })
    expect(getUserById(shop.db, user.id).passwordHash).toContain('m=19456,t=2,p=1')
    await expect(send(shop)).resolves.toBeDefined()
  })

  it('cannot be made with a stored hash that is malformed or asks for too much', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    const set = shop.db.sqlite.prepare('UPDATE users SET password_hash = ? WHERE id = ?')
    const salt = 'c2FsdHNhbHRzYWx0c2FsdA'
    const digest = 'A'.repeat(43)
    for (const stored of [
      '',
      'x',
      `$argon2id$v=19$m=999999,t=2,p=1$${salt}$${digest}`,
      `$argon2id$v=19$m=19456,t=2,p=1$abcdefghijklm$${digest}`
    ]) {
      set.run(stored, user.id)
      await expect(send(shop)).rejects.toThrow(refusal('AUTH_INVALID_CREDENTIALS'))
    }
  })
})

describe('an account with a password hash of another shop', () => {
  const imported = [
    { hash: '$P$984478476IagS59wHZvyQMArzfx58u.', password: 'hashcat' },
    { hash: '$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', password: 'U*U' },
    { hash: '$wp$2y$10$80bquP20eZB5ZPUIselGAeDJaEs0Mioh9Aed7kfxmBnOLiT3/xcRi', password: "O'Brien-63162" },
    { hash: '900150983cd24fb0d6963f7d28e17f72', password: 'abc' }
  ]

  it.each(imported)('logs in with its old password, and has argon2 from then on: $hash', async ({ hash, password }) => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash: hash })
    await expect(send(shop, { password: 'wrong' })).rejects.toThrow(refusal('AUTH_INVALID_CREDENTIALS'))
    expect(getUserById(shop.db, user.id).passwordHash).toBe(hash)
    expect(tally(await atOnce(3, () => send(shop, { password })))).toEqual({ in: 3 })
    expect(getUserById(shop.db, user.id).passwordHash).toMatch(/^\$argon2id\$/)
    await expect(send(shop, { password })).resolves.toBeDefined()
  })

  it('keeps the limit of wrong passwords', async () => {
    using shop = openTestShop()
    setSetting(shop.db, 'limits.login_account', '2/60', 0)
    await makeUser(shop, { passwordHash: '$P$984478476IagS59wHZvyQMArzfx58u.' })
    const results: unknown[] = []
    for (const password of ['wrong', 'wrong', 'hashcat'])
      results.push(await send(shop, { password }).catch((error: { code: string }) => error.code))
    expect(results).toEqual(['AUTH_INVALID_CREDENTIALS', 'AUTH_INVALID_CREDENTIALS', 'AUTH_RATE_LIMITED'])
  })

  it('costs every login one hash of each kind that the shop has, also of an unknown account', async () => {
    const asked: (readonly string[] | undefined)[] = []
    const base = openTestShop()
    const passwords: PasswordHasher = {
      ...base.passwords,
      verify: (hash, password, costs) => (asked.push(costs), base.passwords.verify(hash, password, costs)),
      verifyNothing: (password, costs) => (asked.push(costs), base.passwords.verifyNothing(password, costs))
    }
    using shop = { ...base, passwords }
    const own = await makeUser(shop)
    for (const [index, { hash }] of imported.entries()) {
      await makeUser(shop, { email: `a${index}@x.example`, passwordHash: hash })
      await makeUser(shop, { email: `b${index}@x.example`, passwordHash: hash })
    }
    for (const email of ['a0@x.example', 'mira@shop.example', 'nobody@x.example'])
      await expect(send(shop, { email, password: 'wrong' })).rejects.toThrow(refusal('AUTH_INVALID_CREDENTIALS'))
    const one = [imported[1]?.hash, imported[0]?.hash, own.passwordHash, imported[2]?.hash]
    expect(asked).toEqual([one, one, one])
  })
})

describe('the nonce sent with a login', () => {
  const bearerOf = (shop: TestShop, token: string) => {
    const session = findSession(shop.db, token, shop.clock.now())?.session
    return { sessionTokenHash: session?.tokenHash ?? null, startNonceHash: session?.startNonceHash ?? null }
  }

  it('stays good for the session it starts, whether it was anonymous or the last session’s', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    const now = shop.clock.now()
    const nonce = issueNonce(shop.keys, null, now)
    const first = await send(shop, {}, caller({ nonce }))
    expect(checkNonce(shop.keys, nonce, bearerOf(shop, first.session.token), now)).toBe(true)
    const bound = issueNonce(shop.keys, first.session.tokenHash, now)
    const identity = findSession(shop.db, first.session.token, now) ?? null
    const second = await send(shop, {}, caller({ nonce: bound, identity }))
    expect(checkNonce(shop.keys, bound, bearerOf(shop, second.session.token), now)).toBe(true)
    expect(checkNonce(shop.keys, nonce, bearerOf(shop, second.session.token), now)).toBe(false)
  })

  it('is not made good by it when it was not', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    for (const nonce of ['made up', issueNonce(shop.keys, tokenHash('somebody else'), shop.clock.now())]) {
      const { session } = await send(shop, {}, caller({ nonce }))
      expect(findSession(shop.db, session.token, shop.clock.now())?.session.startNonceHash).toBeNull()
    }
  })
})

describe('logout', () => {
  it('ends the session and the nonces issued to it; without a session it does nothing', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    const { session } = await send(shop)
    const nonce = issueNonce(shop.keys, session.tokenHash, shop.clock.now())
    await logout(shop, { identity: findSession(shop.db, session.token, shop.clock.now()) ?? null })
    expect(findSession(shop.db, session.token, shop.clock.now())).toBeUndefined()
    const nobody = { sessionTokenHash: null, startNonceHash: null }
    expect(checkNonce(shop.keys, nonce, nobody, shop.clock.now())).toBe(false)
    expect(() => logout(shop, { identity: null })).not.toThrow()
  })
})

describe('failed logins', () => {
  it('are limited for each name, of an account or not, in whatever spelling and field and from any address', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    setSetting(shop.db, 'limits.login_account', '4/60', 0)
    for (const email of ['mira@shop.example', 'nobody@shop.example']) {
      for (let index = 0; index < 4; index += 1) {
        const names = index % 2 === 0 ? { email: ` ${email.toUpperCase()}` } : { email: null, username: email }
        const from = caller({ addressKey: `192.0.2.${index}` })
        await expect(send(shop, { ...names, password: 'wrong' }, from)).rejects.toThrow(
          refusal('AUTH_INVALID_CREDENTIALS')
        )
      }
      const limited = await send(shop, { email }).catch((error: unknown) => error)
      expect(limited).toMatchObject({ code: 'AUTH_RATE_LIMITED', details: { bucket: 'login_account' } })
      expect(limited).toHaveProperty('headers.Retry-After', expect.stringMatching(/^[1-9]\d?$/))
    }
  })

  it.each(['mira', 'nobody'])('by one name of %s leave the other its own tries', async (local) => {
    using shop = openTestShop()
    await makeUser(shop)
    setSetting(shop.db, 'limits.login_account', '2/60', 0)
    const byEmail = { email: `${local}@shop.example`, password: 'wrong' }
    const byUsername = { email: null, username: local, password: 'wrong' }
    const results: unknown[] = []
    for (const body of [byEmail, byEmail, byEmail, byUsername, byUsername, byUsername])
      results.push(await send(shop, body).catch((error: { code: string }) => error.code))
    const each = ['AUTH_INVALID_CREDENTIALS', 'AUTH_INVALID_CREDENTIALS', 'AUTH_RATE_LIMITED']
    expect(results).toEqual([...each, ...each])
  })

  it('are limited for each address over all accounts', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    setSetting(shop.db, 'limits.login_ip', '3/60', 0)
    for (let index = 0; index < 3; index += 1) await send(shop, { email: `a${index}@x.example` }).catch(() => undefined)
    await expect(send(shop)).rejects.toThrow(refusal('AUTH_RATE_LIMITED', { bucket: 'login_ip' }))
    await expect(send(shop, {}, caller({ addressKey: '198.51.100.1' }))).resolves.toBeDefined()
  })

  it('are what is counted: right passwords are not', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    setSetting(shop.db, 'limits.login_account', '2/60', 0)
    setSetting(shop.db, 'limits.login_ip', '2/60', 0)
    for (let index = 0; index < 5; index += 1) await expect(send(shop)).resolves.toBeDefined()
    await send(shop, { password: 'wrong' }).catch(() => undefined)
    await expect(send(shop)).resolves.toBeDefined()
  })

  it('sent a hundred at a time get only as many attempts as points are left', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    expect(tally(await atOnce(100, (index) => send(shop, { password: `wrong ${index}` })))).toEqual({
      AUTH_INVALID_CREDENTIALS: 10,
      AUTH_RATE_LIMITED: 90
    })
    await expect(send(shop)).rejects.toThrow(refusal('AUTH_RATE_LIMITED', { bucket: 'login_account' }))
  })

  it('on a hundred accounts at once count as a hundred of their address', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    const results = await atOnce(105, (index) => send(shop, { email: `nobody${index}@shop.example` }))
    expect(tally(results)).toEqual({ AUTH_INVALID_CREDENTIALS: 100, AUTH_RATE_LIMITED: 5 })
    await expect(send(shop)).rejects.toThrow(refusal('AUTH_RATE_LIMITED', { bucket: 'login_ip' }))
  })

  it('do not open a way for a right password behind too many wrong ones, nor close it before', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    const results = await atOnce(30, (index) => send(shop, index === 5 || index === 25 ? {} : { password: 'wrong' }))
    expect([results[5], results[25]].map(outcome)).toEqual(['in', 'AUTH_RATE_LIMITED'])
    expect(tally(results)).toEqual({ in: 1, AUTH_INVALID_CREDENTIALS: 10, AUTH_RATE_LIMITED: 19 })
  })

  it('end with their window, however often one was refused in it', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    setSetting(shop.db, 'limits.login_account', '1/1', 0)
    await send(shop, { password: 'wrong' }).catch(() => undefined)
    for (let index = 0; index < 5; index += 1) await send(shop).catch(() => undefined)
    laterBy(1_000)
    await expect(send(shop)).resolves.toBeDefined()
  })
})

describe('right passwords', () => {
  it('are not refused for one another, even with one point left', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    setSetting(shop.db, 'limits.login_account', '2/60', 0)
    await send(shop, { password: 'wrong' }).catch(() => undefined)
    expect(tally(await atOnce(40, () => send(shop)))).toEqual({ in: 40 })
  })

  it('beyond the capacity of the shop are postponed and not counted', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    const results = await atOnce(400, () => send(shop))
    const counts = tally(results)
    expect(counts.in).toBeGreaterThanOrEqual(256)
    expect(counts).toEqual({ in: counts.in, DEPENDENCY_UNAVAILABLE: 400 - (counts.in ?? 0) })
    const put = results.find((result) => outcome(result) === 'DEPENDENCY_UNAVAILABLE')
    expect(put).toHaveProperty('reason.headers.Retry-After', '2')
    await expect(send(shop)).resolves.toBeDefined()
  })
})

describe('a login under way', () => {
  const deactivate = (shop: TestShop) =>
    write(shop.db, (tx) => {
      tx.sqlite.prepare(`UPDATE users SET status = 'deactivated'`).run()
      tx.sqlite.prepare('DELETE FROM sessions').run()
    })

  it('does not overtake a deactivation', async () => {
    using shop = openTestShop()
    await makeUser(shop)
    setSetting(shop.db, 'limits.login_account', 'off', 0)
    const logins = Array.from({ length: 20 }, () => send(shop))
    // The others still compute their hashes.
    await Promise.race(logins)
    deactivate(shop)
    const codes = new Set((await Promise.allSettled(logins)).map(outcome))
    expect([...codes].every((code) => code === 'in' || code === 'AUTH_ACCOUNT_DEACTIVATED')).toBe(true)
    expect(shop.db.sqlite.prepare('SELECT count(*) FROM sessions').pluck().get()).toBe(0)
  })

  it('with a password that is changed meanwhile gets no session', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    const changed = await shop.passwords.hash('another-harbour-43')
    const under = send(shop)
    await Promise.resolve()
    shop.db.sqlite.prepare('UPDATE users SET password_hash = ? WHERE id = ?').run(changed, user.id)
    await expect(under).rejects.toThrow(refusal('AUTH_INVALID_CREDENTIALS'))
  })
})
