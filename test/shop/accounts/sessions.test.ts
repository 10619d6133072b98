import { describe, expect, it } from 'vitest'
import { tokenHash } from '../../../src/platform/crypto/secrets.ts'
import { write } from '../../../src/platform/db/database.ts'
import type { UserRow } from '../../../src/shop/accounts/rows.ts'
import {
  endSession,
  endUserSessions,
  findSession,
  purgeSessions,
  startSession
} from '../../../src/shop/accounts/sessions.ts'
import { makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const start = (shop: TestShop, user: UserRow, rememberMe = false) =>
  write(shop.db, (tx) => startSession(tx, { userId: user.id, rememberMe }, shop.clock.now()))
const find = (shop: TestShop, token: string) => findSession(shop.db, token, shop.clock.now())
const count = (shop: TestShop) => shop.db.sqlite.prepare('SELECT count(*) FROM sessions').pluck().get()

describe('a session', () => {
  it('is found by its token, which is stored nowhere', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    const { token } = start(shop, user)
    expect(find(shop, token)?.user.id).toBe(user.id)
    expect(JSON.stringify(shop.db.sqlite.prepare('SELECT * FROM sessions').all())).not.toContain(token)
    expect(find(shop, tokenHash(token))).toBeUndefined()
    expect(find(shop, '')).toBeUndefined()
    expect(find(shop, `${token} `)).toBeUndefined()
  })

  it('has a token of 43 characters of base64url: no other text is looked up', async () => {
    using shop = openTestShop()
    const { token } = start(shop, await makeUser(shop))
    const rename = shop.db.sqlite.prepare('UPDATE sessions SET token_hash = ?')
    for (const other of ['a', `${token}A`, `A${token}`, token.slice(1), `${token.slice(1)}!`, `${token}\n`]) {
      rename.run(tokenHash(other))
      expect(find(shop, other)).toBeUndefined()
    }
    rename.run(tokenHash(token))
    expect(find(shop, token)).toBeDefined()
  })

  it('ends 24 hours after its last use', async () => {
    using shop = openTestShop()
    const { token, maxAgeSeconds } = start(shop, await makeUser(shop))
    expect(maxAgeSeconds).toBeNull()
    shop.clock.advance(day - 1)
    expect(find(shop, token)).toBeDefined()
    shop.clock.advance(day - 1)
    expect(find(shop, token)).toBeDefined()
    shop.clock.advance(day)
    expect(find(shop, token)).toBeUndefined()
  })

  it('with rememberMe ends 14 days after its last use', async () => {
    using shop = openTestShop()
    const { token, maxAgeSeconds } = start(shop, await makeUser(shop), true)
    expect(maxAgeSeconds).toBe(30 * 86_400)
    shop.clock.advance(14 * day - 1)
    expect(find(shop, token)).toBeDefined()
    shop.clock.advance(14 * day)
    expect(find(shop, token)).toBeUndefined()
  })

  it('ends after 30 days however much it is used', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    for (const rememberMe of [true, false]) {
      const { token } = start(shop, user, rememberMe)
      for (let hours = 0; hours < 30 * 24 - 12; hours += 12) {
        shop.clock.advance(12 * hour)
        expect(find(shop, token)).toBeDefined()
      }
      shop.clock.advance(12 * hour)
      expect(find(shop, token)).toBeUndefined()
    }
  })

  it('notes its use at most once a minute', async () => {
    using shop = openTestShop()
    const { token } = start(shop, await makeUser(shop))
    const began = shop.clock.now()
    const lastSeen = () => shop.db.sqlite.prepare('SELECT last_seen_at FROM sessions').pluck().get()
    shop.clock.advance(minute - 1)
    find(shop, token)
    expect(lastSeen()).toBe(began)
    shop.clock.advance(1)
    find(shop, token)
    expect(lastSeen()).toBe(began + minute)
  })

  it('is not started for an account that is not active, and not found for one', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    const { token } = start(shop, user)
    shop.db.sqlite.prepare(`UPDATE users SET status = 'deactivated'`).run()
    expect(find(shop, token)).toBeUndefined()
    expect(() => start(shop, user)).toThrow(expect.objectContaining({ code: 'AUTH_ACCOUNT_DEACTIVATED' }))
    const nobody = { ...user, id: user.id + 1 }
    expect(() => start(shop, nobody)).toThrow(expect.objectContaining({ code: 'AUTH_ACCOUNT_DEACTIVATED' }))
  })
})

describe('the sessions of a user', () => {
  it('are at most 100: the least recently used one gives way', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    const other = start(shop, await makeUser(shop, { email: 'jonas@shop.example' }))
    const tokens: string[] = []
    for (let index = 0; index < 100; index += 1) {
      shop.clock.advance(minute)
      tokens.push(start(shop, user).token)
    }
    shop.clock.advance(minute)
    const [first = '', second = ''] = tokens
    find(shop, first)
    start(shop, user)
    expect(count(shop)).toBe(101)
    expect(find(shop, first)).toBeDefined()
    expect(find(shop, second)).toBeUndefined()
    expect(find(shop, other.token)).toBeDefined()
  })

  it('end one by one, all together, or all but one', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    const [a, b, c] = [start(shop, user), start(shop, user), start(shop, user)]
    write(shop.db, (tx) => endSession(tx, a.tokenHash))
    expect([a, b, c].map(({ token }) => find(shop, token) !== undefined)).toEqual([false, true, true])
    write(shop.db, (tx) => endUserSessions(tx, user.id, b.tokenHash))
    expect([a, b, c].map(({ token }) => find(shop, token) !== undefined)).toEqual([false, true, false])
    write(shop.db, (tx) => endUserSessions(tx, user.id))
    expect(find(shop, b.token)).toBeUndefined()
  })

  it('that are over are removed, live ones are not', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    start(shop, user)
    const { token } = start(shop, user, true)
    shop.clock.advance(day)
    expect(write(shop.db, (tx) => purgeSessions(tx, shop.clock.now(), 9))).toBe(0)
    shop.clock.advance(day)
    const live = start(shop, user)
    expect(write(shop.db, (tx) => purgeSessions(tx, shop.clock.now(), 9))).toBe(1)
    expect(find(shop, token)).toBeDefined()
    expect(find(shop, live.token)).toBeDefined()
    write(shop.db, (tx) => endSession(tx, live.tokenHash))
    shop.clock.advance(28 * day)
    expect(write(shop.db, (tx) => purgeSessions(tx, shop.clock.now(), 9))).toBe(1)
  })
})
