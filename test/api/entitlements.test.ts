import { describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { setAdministrator } from '../../src/shop/accounts/deactivate.ts'
import { createAffiliate } from '../../src/shop/affiliates/create.ts'
import { decideAffiliate } from '../../src/shop/affiliates/decide.ts'
import { benefitCatalog } from '../journeys/catalog.ts'
import { buy, logIn, me, registerUser, openShop, order } from '../journeys/shop.ts'
import type { JourneyShop, Me } from '../journeys/shop.ts'
import { shopstead } from '../support/command-line.ts'
import { consent, differences, entitlements, flags, profile, roles, user } from './entitlement-shapes.ts'
import type { Shape } from './entitlement-shapes.ts'

const credentials = { email: 'lena@shop.example', password: 'tidal-basalt-93' }
const grown = { activeMembershipCount: 2, totalMemberships: 2 }

const summary = (plan: boolean): { [name: string]: Shape } => ({ user, flags, entitlements: entitlements(plan) })
const current = (plan: boolean): Shape => ({ ...summary(plan), roles, profile, consent })

/** Somebody who has one of everything, all of it bought, and is an administrator and an active affiliate. */
async function collector(shop: JourneyShop): Promise<number> {
  const lena = await registerUser(shop, 'lena')
  const { id } = (await me(lena)).user
  for (const slug of ['mug', 'head-keeper', 'guild', 'almanac-pro', 'glazing', 'song', 'panes', 'gift']) {
    await buy(shop, lena, slug)
  }
  const billing = { billingEmail: 'bills@shop.example', billingPhone: '+49 30 5550142', companyName: 'Atelier' }
  expect((await lena.send('PATCH', '/me', { ...billing, firstName: 'Lena', lastName: 'Hartmann' })).status).toBe(200)
  const now = shop.clock.now()
  write(shop.app.db, (tx) => {
    createAffiliate(tx, { userId: id, code: 'lena', status: 'active', rateBps: null }, now)
    setAdministrator(tx, id, true, now)
  })
  return id
}

/** What stands twice or thrice in one answer is the same everywhere. */
function repeats({ flags, entitlements }: Pick<Me, 'flags' | 'entitlements'>): void {
  expect(entitlements['flags']).toEqual(flags)
  expect(entitlements['summaries']).toEqual({
    orders: entitlements.ordersSummary,
    donations: entitlements.donationsSummary,
    memberships: entitlements.membershipsSummary,
    subscriptions: entitlements.subscriptionsSummary,
    affiliate: entitlements.affiliate,
    dependencies: entitlements.dependencies
  })
}

describe('register, login and /me', () => {
  it('have exactly the fields of the interface for a user without anything', async () => {
    const shop = await openShop(benefitCatalog)
    const visitor = shop.visitor()
    const registered = await visitor.register(credentials)
    expect(differences(registered.data, { ...summary(false), next: 'string' })).toEqual([])
    const loggedIn = await shop.visitor().post('/auth/login', credentials)
    expect(differences(loggedIn.data, { ...summary(false), next: 'string' })).toEqual([])
    const read = await visitor.get<Me>('/me')
    expect(differences(read.data, current(false))).toEqual([])
    for (const { data } of [registered, loggedIn, read]) repeats(data as Me)
    expect(Object.keys(read.data.user)).not.toContain('billingEmail')
    for (const { data } of [registered, loggedIn]) {
      expect([data['user'], data['flags'], data['entitlements']]).toEqual([
        read.data.user,
        read.data.flags,
        read.data.entitlements
      ])
    }
    expect(read.data.entitlements).toMatchObject({
      orders: [],
      memberships: [],
      subscriptions: [],
      donations: { donations: [] },
      affiliate: { id: null, isActive: false, status: null }
    })
  })

  it('have exactly the fields of the interface while the email is not verified', async () => {
    const shop = await openShop(benefitCatalog, { 'registration.emailVerification': 'true' })
    const { data, meta } = await shop.visitor().register(credentials)
    expect(differences(data, { ...summary(false), registrationStatus: 'string' })).toEqual([])
    expect(data).toMatchObject({ registrationStatus: 'pending_verification', flags: { isLoggedIn: false } })
    expect(Object.keys(meta ?? {}).toSorted()).toEqual(
      ['correlationId', 'correlation_id', 'expiresAt', 'nextStep', 'request_id', 'timestamp'].toSorted()
    )
  })

  it('have exactly the fields of the interface for a user who has everything, and every flag is true', async () => {
    const shop = await openShop(benefitCatalog)
    await collector(shop)
    const visitor = shop.visitor()
    const loggedIn = await visitor.post<Me>('/auth/login', credentials)
    expect(differences(loggedIn.data, { ...summary(true), next: 'string' })).toEqual([])
    const read = await me(visitor)
    expect(differences(read, current(true))).toEqual([])
    for (const data of [loggedIn.data, read]) repeats(data)
    expect([loggedIn.data.user, loggedIn.data.flags, loggedIn.data.entitlements]).toEqual([
      read.user,
      read.flags,
      read.entitlements
    ])
    expect(Object.keys(read.user)).toHaveLength(8)
    expect(Object.entries(read.flags).filter(([, is]) => !is)).toEqual([])
    const { entitlements: held } = read
    const counts = [held.orders, held.memberships, held.subscriptions, held.donations.donations].map((of) => of.length)
    expect(counts).toEqual([8, 2, 1, 2])
    expect(held).toMatchObject({
      formsProvider: 'formsA',
      ordersSummary: { hasAnyCompletedOrder: true, totalOrders: 8 },
      membershipsSummary: { ...grown, primaryPlan: { planSlug: 'head-keeper' } },
      affiliate: { isActive: true, status: 'active' }
    })
    expect(read.roles).toEqual({
      wpRoles: ['customer', 'affiliate', 'administrator'],
      serviceRoles: ['member', 'pro', 'affiliate', 'admin']
    })
    expect(read.profile).toEqual({ firstName: 'Lena', lastName: 'Hartmann' })
  })

  it('show the same as "users show" of the operator', async () => {
    const shop = await openShop(benefitCatalog)
    await collector(shop)
    const visitor = await logIn(shop, 'lena')
    const { entitlements: held } = await me(visitor)
    const { code, json } = await shopstead(shop.dataDir, ['users', 'show', 'lena@shop.example', '--json'])
    expect(code).toBe(0)
    const shown = json['entitlements'] as Me['entitlements']
    expect(differences(shown, entitlements(true))).toEqual([])
    expect(shown.orders).toEqual(held.orders)
    expect(shown.donations).toEqual(held.donations)
    expect(shown.memberships.map(({ id }) => id)).toEqual(held.memberships.map(({ id }) => id))
  })
})

describe('the orders of entitlements', () => {
  it('are the newest twenty, and their total counts all', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    for (let index = 0; index < 22; index += 1) {
      shop.clock.advance(1_000)
      await order(shop, lena, 'mug', { body: { notes: `${index}` } })
    }
    const { orders, ordersSummary } = (await me(lena)).entitlements
    expect(orders.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, index) => 22 - index))
    expect(ordersSummary).toEqual({
      hasAnyCompletedOrder: false,
      totalOrders: 22,
      lastOrderAt: new Date(shop.clock.now()).toISOString()
    })
  })
})

describe('flags of people', () => {
  it('distinguish an applicant from an affiliate', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    const standing = async () => {
      const { user, roles, flags, entitlements } = await me(lena)
      return [
        flags['isAffiliate'],
        flags['isAffiliateApproved'],
        entitlements.affiliate,
        user.roles,
        roles.serviceRoles
      ]
    }
    expect(await standing()).toEqual([false, false, { id: null, isActive: false, status: null }, ['customer'], []])
    await lena.post('/affiliates/apply', {})
    expect(await standing()).toEqual([true, false, { id: 1, isActive: false, status: 'pending' }, ['customer'], []])
    const decide = (decision: 'approve' | 'deactivate') =>
      decideAffiliate(shop.app.db, 'lena', decision, shop.clock.now())
    decide('approve')
    expect(await standing()).toEqual([
      true,
      true,
      { id: 1, isActive: true, status: 'active' },
      ['customer', 'affiliate'],
      ['affiliate']
    ])
    decide('deactivate')
    expect(await standing()).toEqual([true, false, { id: 1, isActive: false, status: 'inactive' }, ['customer'], []])
  })

  it('name an administrator, whose sessions end when they become one', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    const { id } = (await me(lena)).user
    write(shop.app.db, (tx) => void setAdministrator(tx, id, true, shop.clock.now()))
    expect((await lena.get('/me')).status).toBe(401)
    const { flags, roles } = await me(await logIn(shop, 'lena'))
    expect([flags['isAdmin'], roles]).toEqual([
      true,
      { wpRoles: ['customer', 'administrator'], serviceRoles: ['admin'] }
    ])
  })

  it('count a physical order as completed only when it is', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    const { orderId } = await buy(shop, lena, 'mug')
    expect((await me(lena)).flags['hasAnyCompletedStoreOrder']).toBe(false)
    const completed = await shopstead(shop.dataDir, ['orders', 'complete', String(orderId), '--json'])
    expect(completed.code).toBe(0)
    expect((await me(lena)).flags['hasAnyCompletedStoreOrder']).toBe(true)
    expect((await me(lena)).entitlements.ordersSummary['hasAnyCompletedOrder']).toBe(true)
  })
})
