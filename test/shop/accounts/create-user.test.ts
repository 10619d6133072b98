import { describe, expect, it } from 'vitest'
import { biographyBlock, setMarketingOptIn, setPartnerOptIn } from '../../../src/shop/accounts/create-user.ts'
import { findUserByEmail, findUserByUsername, getUser } from '../../../src/shop/accounts/find.ts'
import { toConsent, toProfile, toUser } from '../../../src/shop/accounts/view.ts'
import { write } from '../../../src/platform/db/database.ts'
import { makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'

const passwordHash = 'not a hash'

describe('an account', () => {
  it('has a username from its email, in plain letters and never one that is taken', async () => {
    using shop = openTestShop()
    const usernames: string[] = []
    const emails = [
      'Zoë.Müller@a.example',
      'zoe.muller@b.example',
      'ZOE.MULLER@c.example',
      '+++@a.example',
      '李@a.example'
    ]
    for (const email of emails) usernames.push((await makeUser(shop, { email, passwordHash })).username)
    expect(usernames).toEqual(['zoe.muller', 'zoe.muller-2', 'zoe.muller-3', 'customer', 'customer-2'])
  })

  it('finds a username even when a hundred others have the same', async () => {
    using shop = openTestShop()
    for (let index = 0; index < 100; index += 1)
      await makeUser(shop, { email: `info@shop${index}.example`, passwordHash })
    expect(shop.db.sqlite.prepare('SELECT count(DISTINCT username_key) FROM users').pluck().get()).toBe(100)
  })

  it('is refused when its email or username is taken, without saying which', async () => {
    using shop = openTestShop()
    await makeUser(shop, { username: 'mira', passwordHash })
    const refusal = expect.objectContaining({ code: 'AUTH_REGISTRATION_FAILED', details: {} })
    await expect(makeUser(shop, { email: ' MIRA@shop.EXAMPLE', passwordHash })).rejects.toThrow(refusal)
    await expect(makeUser(shop, { email: 'x@shop.example', username: 'Mira', passwordHash })).rejects.toThrow(refusal)
  })

  it('is found by email however it is written, by username and by id', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { email: 'Ame\u0301lie@Shop.example', passwordHash })
    expect(user.email).toBe('Am\u00e9lie@Shop.example')
    expect(findUserByEmail(shop.db, ' AM\u00c9LIE@shop.example ')?.id).toBe(user.id)
    expect(findUserByUsername(shop.db, 'AMELIE')?.id).toBe(user.id)
    expect(getUser(shop.db, String(user.id)).id).toBe(user.id)
    expect(() => getUser(shop.db, 'nobody@shop.example')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
  })

  it('emits an event', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    expect(shop.db.sqlite.prepare('SELECT type, payload FROM events').all()).toEqual([
      { type: 'account.registered', payload: JSON.stringify({ userId: user.id }) }
    ])
  })
})

describe('what leaves of an account', () => {
  it('has no optional field that is unset, and none of them without billing', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, companyName: 'Slow Coast' })
    const plain = {
      id: user.id,
      email: 'mira@shop.example',
      displayName: 'Mira Okafor',
      roles: ['customer'],
      createdAt: '2026-01-15T12:00:00.000Z'
    }
    expect(toUser(user, ['customer'], { billing: false })).toEqual(plain)
    expect(toUser(user, ['customer'], { billing: true })).toEqual({ ...plain, companyName: 'Slow Coast' })
  })

  it('has the core names where the registration profile has none', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, firstName: 'Mira', lastName: 'Okafor' })
    shop.db.sqlite.prepare(`UPDATE registration_profiles SET first_name = 'Custom', last_name = NULL`).run()
    expect(toProfile(shop.db, user)).toEqual({ firstName: 'Custom', lastName: 'Okafor' })
    shop.db.sqlite.prepare('DELETE FROM registration_profiles').run()
    expect(toProfile(shop.db, user)).toEqual({ firstName: 'Mira', lastName: 'Okafor' })
  })
})

describe('consent', () => {
  it('is summed up in four lines of the biography', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, marketingOptIn: true })
    expect(user.biography).toBe(
      'Customer marketing opt-in: yes\nCustomer marketing opt-in at: 2026-01-15T12:00:00.000Z\n' +
        'Partner marketing opt-in: no\nPartner marketing opt-in at: -'
    )
  })

  it('has a time while it is yes and none while it is no, for customer and partner apart', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, marketingOptIn: true })
    const partner = write(shop.db, (tx) => setPartnerOptIn(tx, user.id, true, 5))
    expect(partner).toMatchObject({ marketingOptIn: 'yes', partnerOptIn: 'yes', partnerOptInAt: 5 })
    const withdrawn = write(shop.db, (tx) => setMarketingOptIn(tx, user.id, false, 'account', 9))
    expect(withdrawn).toMatchObject({ marketingOptIn: 'no', marketingOptInAt: null, partnerOptInAt: 5 })
    expect(getUser(shop.db, user.id)).toEqual(withdrawn)
    expect(withdrawn.biography).toBe(biographyBlock(withdrawn))
    expect(toConsent(shop.db, withdrawn)).toEqual({
      marketingOptIn: false,
      termsAcceptedAt: null,
      privacyAcceptedAt: null
    })
  })
})
