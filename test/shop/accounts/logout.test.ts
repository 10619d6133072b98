import { expect, test } from 'vitest'
import { logout } from '../../../src/shop/accounts/sessions.ts'
import { countOf, logIn } from '../../support/accounts.ts'
import { makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'

test('logging out ends the session of the request and no other; without one there is nothing to do', async () => {
  using shop = openTestShop()
  const user = await makeUser(shop, { passwordHash: 'none' })
  const [identity] = [logIn(shop, user), logIn(shop, user)]
  await logout(shop, { identity: null })
  expect(countOf(shop, 'sessions')).toBe(2)
  await logout(shop, { identity })
  await logout(shop, { identity })
  const left = shop.db.sqlite.prepare('SELECT token_hash FROM sessions').pluck().all()
  expect(left).toHaveLength(1)
  expect(left).not.toContain(identity.session.tokenHash)
})
