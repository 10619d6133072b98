import { describe, expect, it } from 'vitest'
import { exportPerson } from '../../../src/shop/customers/export-person.ts'
import { logIn } from '../../support/accounts.ts'
import { makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { draft, line, makeProduct, place } from '../orders/support.ts'

describe('an export', () => {
  it('holds everything of the person and no secret', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { firstName: 'Mira', companyName: 'Slow Coast', marketingOptIn: true })
    const { session } = logIn(shop, user)
    const { id } = place(shop.db, draft([line(makeProduct(shop.db))], { userId: user.id }))
    const document = exportPerson(shop.db, user, shop.clock.now())
    expect(document).toMatchObject({
      exportedAt: '2026-01-15T12:00:00.000Z',
      user: { email: user.email, roles: ['customer'], companyName: 'Slow Coast' },
      account: {
        username: 'mira',
        status: 'active',
        profile: { firstName: 'Mira', lastName: null },
        registrationConsent: { marketingOptIn: true },
        marketingOptIn: 'yes',
        biography: user.biography
      },
      sessions: [{ createdAt: '2026-01-15T12:00:00.000Z', rememberMe: false }],
      messages: [],
      orders: [{ id }],
      includesGuestOrders: false,
      affiliate: null
    })
    expect(JSON.stringify(document)).not.toMatch(new RegExp(`argon2|${session.tokenHash}`))
  })
})
