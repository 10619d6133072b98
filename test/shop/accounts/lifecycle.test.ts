import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import {
  listAdministrators,
  setAdministrator,
  activateUser,
  deactivateUser
} from '../../../src/shop/accounts/deactivate.ts'
import { createEmailToken, deriveEmailToken } from '../../../src/shop/accounts/email-tokens.ts'
import { getUserById } from '../../../src/shop/accounts/find.ts'
import { listUsers, toProfile } from '../../../src/shop/accounts/view.ts'
import { endUserSessions } from '../../../src/shop/accounts/sessions.ts'
import { updateProfile } from '../../../src/shop/accounts/update-profile.ts'
import { erasePerson } from '../../../src/shop/customers/erase-person.ts'
import { verifyEmail } from '../../../src/shop/customers/verify-email.ts'
import { countOf, eventsOf, logIn, refusal } from '../../support/accounts.ts'
import { caller, makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const passwordHash = 'not a hash'
const tokenFor = (shop: TestShop, userId: number) =>
  deriveEmailToken(
    shop.keys,
    write(shop.db, (tx) => createEmailToken(tx, shop.keys, { kind: 'verify', userId }, shop.clock.now()))
  )

describe('a profile', () => {
  it('is changed where something was sent, names in both places, and stays where nothing was', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, firstName: 'Mira', lastName: 'Okafor', billingPhone: '+49 30' })
    const change = { displayName: 'Mira O.', firstName: 'Miriam', billingPhone: null, companyName: 'Slow Coast' }
    const changed = await updateProfile(shop, user.id, change, 7)
    expect(changed).toEqual({ ...user, ...change, updatedAt: 7 })
    expect(shop.db.sqlite.prepare('SELECT first_name, last_name FROM registration_profiles').get()).toEqual({
      first_name: 'Miriam',
      last_name: 'Okafor'
    })
    expect(await updateProfile(shop, user.id, {}, 9)).toEqual({ ...changed, updatedAt: 9 })
  })

  it('clears a name in both places, so that nothing falls back to it', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, firstName: 'Mira', lastName: 'Okafor' })
    const changed = await updateProfile(shop, user.id, { firstName: null }, 7)
    expect(toProfile(shop.db, changed)).toEqual({ firstName: null, lastName: 'Okafor' })
  })

  it('keeps a name of an account that had no registration profile', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, lastName: 'Okafor' })
    shop.db.sqlite.prepare('DELETE FROM registration_profiles').run()
    const changed = await updateProfile(shop, user.id, { firstName: 'Mira' }, 7)
    expect(toProfile(shop.db, changed)).toEqual({ firstName: 'Mira', lastName: 'Okafor' })
  })

  it('of an account that is shut or erased is not written any more', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, firstName: 'Mira' })
    const rename = () => updateProfile(shop, user.id, { firstName: 'Late' }, 7)
    deactivateUser(shop.db, user.id, 5)
    await expect(rename()).rejects.toThrow(refusal('NOT_AUTHENTICATED'))
    erasePerson(shop.db, user.id, 6)
    await expect(rename()).rejects.toThrow(refusal('NOT_AUTHENTICATED'))
    expect(getUserById(shop.db, user.id).firstName).toBeNull()
  })

  it('with a word on marketing has its time and biography rewritten', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    const at = shop.clock.now() + 1000
    const yes = await updateProfile(shop, user.id, { marketingOptIn: true }, at)
    expect(yes).toMatchObject({ marketingOptIn: 'yes', marketingOptInAt: at })
    expect(yes.biography).toMatch(
      /^Customer marketing opt-in: yes\nCustomer marketing opt-in at: 2026-01-15T12:00:01.000Z\n/
    )
    const no = await updateProfile(shop, user.id, { marketingOptIn: false }, at)
    expect(no).toMatchObject({ marketingOptIn: 'no', marketingOptInAt: null, biography: user.biography })
  })
})

describe('deactivation', () => {
  it('ends sessions and open links immediately, emits one event, and can be undone', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash, verificationPending: true })
    const token = tokenFor(shop, user.id)
    logIn(shop, user)
    for (let times = 0; times < 2; times += 1) {
      expect(deactivateUser(shop.db, user.id, shop.clock.now()).status).toBe('deactivated')
    }
    expect(countOf(shop, 'sessions')).toBe(0)
    expect(eventsOf(shop)).toEqual(['account.registered', 'account.deactivated'])
    const attempt = verifyEmail(shop, { token, password: 'granite-willow-71' }, caller(), shop.clock.now())
    await expect(attempt).rejects.toThrow(refusal('TOKEN_INVALID'))
    expect(activateUser(shop.db, user.id, shop.clock.now()).status).toBe('active')
    expect(countOf(shop, 'sessions')).toBe(0)
  })
})

describe('administrators', () => {
  it('are granted and revoked; either ends the sessions, doing it again changes nothing', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    for (const isAdmin of [true, false]) {
      logIn(shop, user)
      const first = setAdministrator(shop.db, user.id, isAdmin, 5)
      expect(first).toMatchObject({ changed: true, user: { isAdmin } })
      expect(countOf(shop, 'sessions')).toBe(0)
      expect(listAdministrators(shop.db).map(({ id }) => id)).toEqual(isAdmin ? [user.id] : [])
      logIn(shop, user)
      expect(setAdministrator(shop.db, user.id, isAdmin, 5).changed).toBe(false)
      expect(countOf(shop, 'sessions')).toBe(1)
      write(shop.db, (tx) => endUserSessions(tx, user.id))
    }
  })
})

describe('the list of accounts', () => {
  it('is newest first, by status and by part of a name or email, and goes on where it stopped', async () => {
    using shop = openTestShop()
    const mira = await makeUser(shop, { passwordHash })
    const jonas = await makeUser(shop, { passwordHash, email: 'Jonas_100%@shop.example', displayName: 'Jonas Öhler' })
    deactivateUser(shop.db, jonas.id, 5)
    const ids = (filter: object) => listUsers(shop.db, { limit: 10, ...filter }).map(({ id }) => id)
    expect(ids({})).toEqual([jonas.id, mira.id])
    expect(ids({ limit: 1 })).toEqual([jonas.id])
    expect(ids({ beforeId: jonas.id })).toEqual([mira.id])
    expect(ids({ status: 'deactivated' })).toEqual([jonas.id])
    expect(ids({ search: 'JONAS_1' })).toEqual([jonas.id])
    expect(ids({ search: '%' })).toEqual([jonas.id])
    expect(ids({ search: 'Okafor' })).toEqual([mira.id])
    expect(ids({ search: 'jonas öh' })).toEqual([jonas.id])
  })
})
