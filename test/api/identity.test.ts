import { parseTrustedProxies } from '../../src/platform/http/client-address.ts'
import { describe, expect, test } from 'vitest'
import { findIdentity, identifyAgain } from '../../src/api/server.ts'
import type { Call, Route } from '../../src/api/route.ts'
import { write } from '../../src/platform/db/database.ts'
import { endUserSessions, startSession } from '../../src/shop/accounts/sessions.ts'
import { refusal } from '../support/accounts.ts'
import { makeUser } from '../support/people.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'

const route = (session: Route['session']) => ({ session }) as Route

/** A request with the cookie of a session that lived when it arrived, and its user. */
async function arrive(shop: TestShop, cookie = true): Promise<Call> {
  const { id: userId } = await makeUser(shop, { passwordHash: 'none' })
  const now = shop.clock.now()
  const { token } = write(shop.db, (tx) => startSession(tx, { userId, rememberMe: false }, now))
  const headers = cookie ? { cookie: `shopstead_session=${token}` } : {}
  const request = new Request('http://localhost:3000/api/v1/me', { headers })
  const ids = { requestId: 'request', correlationId: 'correlation' }
  const identity = findIdentity(shop, request, now)
  return {
    shop,
    request,
    ids,
    params: {},
    now,
    addressKey: '192.0.2.7',
    identity,
    nonce: null,
    cookies: null,
    trusted: parseTrustedProxies([])
  }
}

const shut = (shop: TestShop, call: Call) => write(shop.db, (tx) => endUserSessions(tx, call.identity?.user.id ?? 0))

describe('a client after its body has arrived', () => {
  test('is the same user with the current state of the account', async () => {
    using shop = openTestShop()
    const call = await arrive(shop)
    shop.db.sqlite.exec("UPDATE users SET display_name = 'Mira Lund'")
    for (const session of ['required', 'optional'] as const)
      expect(identifyAgain(route(session), call).identity?.user.displayName).toBe('Mira Lund')
  })

  test('is anonymous when the session has ended in the meantime, and is refused if one is required', async () => {
    using shop = openTestShop()
    const call = await arrive(shop)
    expect(call.identity).not.toBeNull()
    shut(shop, call)
    expect(identifyAgain(route('optional'), call).identity).toBeNull()
    expect(() => identifyAgain(route('required'), call)).toThrow(refusal('NOT_AUTHENTICATED'))
  })

  test('stays anonymous', async () => {
    using shop = openTestShop()
    const call = await arrive(shop, false)
    expect(call.identity).toBeNull()
    expect(identifyAgain(route('required'), call)).toBe(call)
  })
})
