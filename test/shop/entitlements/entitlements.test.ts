import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { getUserById } from '../../../src/shop/accounts/find.ts'
import { registrationProfiles, users } from '../../../src/shop/accounts/schema.ts'
import type { GrantSpec } from '../../../src/shop/catalog/grants.ts'
import { accountSummary } from '../../../src/shop/entitlements/entitlements.ts'
import { rolesOf } from '../../../src/shop/entitlements/roles.ts'
import { switchModule } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeUser } from '../../support/people.ts'
import { buy, monthly, person, product } from '../benefits/support.ts'
import { makeAffiliate, placeOrder, seedPlans, summaryOf } from './records.ts'

/** Typed by hand from docs/interface.md 2.1 to 2.4 and docs/contract.md 4.4. */
const keys = {
  user: ['id', 'email', 'displayName', 'roles', 'createdAt', 'billingEmail', 'billingPhone', 'companyName'],
  flags: [
    'isLoggedIn',
    'isAdmin',
    'hasCommerce',
    'hasMembershipsA',
    'hasAffiliates',
    'hasDownloads',
    'hasMembershipsB',
    'hasFormsA',
    'hasFormsB',
    'hasDonations',
    'hasActiveMembershipA',
    'hasActiveMembershipB',
    'hasAnyCompletedStoreOrder',
    'hasActiveSubscription',
    'hasProAccess',
    'isAffiliate',
    'isAffiliateApproved',
    'hasMembershipB',
    'hasCourseEnrollments'
  ],
  entitlements: [
    'flags',
    'formsProvider',
    'ordersSummary',
    'orders',
    'donations',
    'donationsSummary',
    'memberships',
    'membershipsSummary',
    'subscriptions',
    'subscriptionsSummary',
    'affiliate',
    'dependencies',
    'summaries'
  ],
  summaries: ['orders', 'donations', 'memberships', 'subscriptions', 'affiliate', 'dependencies'],
  dependencies: [
    'hasCommerce',
    'hasMembershipsA',
    'hasAffiliates',
    'hasCourses',
    'hasMembershipsB',
    'hasDownloads',
    'hasFormsA',
    'hasFormsB',
    'hasDonations'
  ],
  order: ['id', 'status', 'currency', 'total', 'createdAt'],
  membership: ['id', 'module', 'planId', 'planSlug', 'planName', 'status', 'startedAt', 'expiresAt', 'isPro'],
  plan: ['planId', 'planSlug', 'planName', 'module', 'status', 'expiresAt'],
  subscription: ['id', 'productId', 'name', 'status', 'interval', 'currentPeriodEnd', 'cancelAtPeriodEnd'],
  donation: ['id', 'orderId', 'amount', 'currency', 'campaign', 'createdAt']
}

function hasExactly(object: object | null | undefined, names: string[]): void {
  expect(Object.keys(object ?? {}).toSorted()).toEqual(names.toSorted())
}

const grants: GrantSpec[] = [
  { kind: 'membership', module: 'A', plan: 'keepers-circle', period: 'P1M' },
  { kind: 'membership', module: 'B', plan: 'makers-guild', period: null },
  monthly,
  { kind: 'donation', campaign: 'panes' }
]

async function regular(shop: TestShop) {
  seedPlans(shop)
  const user = await makeUser(shop, {
    email: 'lena@shop.example',
    displayName: 'Lena Hartmann',
    passwordHash: 'none',
    firstName: 'Lena',
    lastName: 'Hartmann',
    marketingOptIn: true,
    termsAcceptedAt: shop.clock.now(),
    billingEmail: 'bills@shop.example',
    billingPhone: '+49 30 5550142',
    companyName: 'Atelier Hartmann'
  })
  const orderId = placeOrder(shop, user.id, 'completed')
  const productId = product(shop, 'everything')
  buy(shop, { userId: user.id, orderId, productId, grants, totalMinor: 1250 })
  makeAffiliate(shop, user.id, 'active')
  return user
}

describe('the entitlements of a person who has everything', () => {
  it('hold exactly the fields of the interface, each of its type', async () => {
    using shop = openTestShop()
    const { user, roles, flags, entitlements, profile, consent } = summaryOf(shop, await regular(shop))
    hasExactly(user, keys.user)
    hasExactly(roles, ['wpRoles', 'serviceRoles'])
    hasExactly(flags, keys.flags)
    hasExactly(entitlements, keys.entitlements)
    hasExactly(entitlements.summaries, keys.summaries)
    hasExactly(entitlements.dependencies, keys.dependencies)
    hasExactly(entitlements.orders[0], keys.order)
    hasExactly(entitlements.memberships[0], keys.membership)
    hasExactly(entitlements.membershipsSummary.primaryPlan, keys.plan)
    hasExactly(entitlements.subscriptions[0], keys.subscription)
    hasExactly(entitlements.donations, ['donations'])
    hasExactly(entitlements.donations.donations[0], keys.donation)
    hasExactly(profile, ['firstName', 'lastName'])
    hasExactly(consent, ['marketingOptIn', 'termsAcceptedAt', 'privacyAcceptedAt'])
    expect(Object.values(flags).every((flag) => typeof flag === 'boolean')).toBe(true)
    expect(Object.values(entitlements.dependencies).every((there) => typeof there === 'boolean')).toBe(true)
    expect(entitlements.flags).toEqual(flags)
  })

  it('say what was bought, and repeat each summary', async () => {
    using shop = openTestShop()
    const at = '2026-01-15T12:00:00.000Z'
    const { user, roles, entitlements, profile, consent } = summaryOf(shop, await regular(shop))
    expect(user).toEqual({
      id: 1,
      email: 'lena@shop.example',
      displayName: 'Lena Hartmann',
      roles: ['customer', 'affiliate'],
      createdAt: at,
      billingEmail: 'bills@shop.example',
      billingPhone: '+49 30 5550142',
      companyName: 'Atelier Hartmann'
    })
    expect(roles).toEqual({ wpRoles: ['customer', 'affiliate'], serviceRoles: ['member', 'affiliate'] })
    expect(entitlements).toMatchObject({
      formsProvider: 'formsA',
      ordersSummary: { hasAnyCompletedOrder: true, totalOrders: 1, lastOrderAt: at },
      orders: [{ id: 1, status: 'completed', currency: 'EUR', total: 12.5, createdAt: at }],
      donations: {
        donations: [{ id: 1, orderId: 1, amount: 12.5, currency: 'EUR', campaign: 'panes', createdAt: at }]
      },
      donationsSummary: { hasDonations: true, totalDonations: 1, lastDonationAt: at },
      memberships: [
        {
          module: 'B',
          planSlug: 'makers-guild',
          planName: "Makers' Guild",
          status: 'active',
          expiresAt: null,
          isPro: false
        },
        { module: 'A', planSlug: 'keepers-circle', status: 'active', expiresAt: '2026-02-15T12:00:00.000Z' }
      ],
      membershipsSummary: {
        activeMembershipCount: 2,
        totalMemberships: 2,
        primaryPlan: { planSlug: 'makers-guild', module: 'B', status: 'active', expiresAt: null }
      },
      subscriptions: [{ name: 'Product everything', status: 'active', interval: 'month', cancelAtPeriodEnd: false }],
      subscriptionsSummary: { activeSubscriptionCount: 1, totalSubscriptions: 1 },
      affiliate: { id: 1, isActive: true, status: 'active' }
    })
    expect(entitlements.summaries).toEqual({
      orders: entitlements.ordersSummary,
      donations: entitlements.donationsSummary,
      memberships: entitlements.membershipsSummary,
      subscriptions: entitlements.subscriptionsSummary,
      affiliate: entitlements.affiliate,
      dependencies: entitlements.dependencies
    })
    expect(profile).toEqual({ firstName: 'Lena', lastName: 'Hartmann' })
    expect(consent).toEqual({ marketingOptIn: true, termsAcceptedAt: at, privacyAcceptedAt: null })
  })

  it('count what has run out in the totals, and not among the active', async () => {
    using shop = openTestShop()
    const user = await regular(shop)
    const { membershipsSummary, subscriptionsSummary } = summaryOf(shop, user, Date.UTC(2026, 1, 15, 12)).entitlements
    expect(membershipsSummary).toMatchObject({ activeMembershipCount: 1, totalMemberships: 2 })
    expect(subscriptionsSummary).toEqual({ activeSubscriptionCount: 0, totalSubscriptions: 1 })
  })

  it('hide what modules hold that are off, and show it again', async () => {
    using shop = openTestShop()
    const user = await regular(shop)
    const before = summaryOf(shop, user)
    const off = ['commerce', 'membershipsA', 'membershipsB', 'affiliates', 'formsA', 'donations'] as const
    for (const module of off) switchModule(shop.db, module, false, 1)
    const { entitlements, roles } = summaryOf(shop, user)
    expect(entitlements).toMatchObject({
      formsProvider: 'formsB',
      ordersSummary: { hasAnyCompletedOrder: false, totalOrders: 0, lastOrderAt: null },
      orders: [],
      donations: { donations: [] },
      donationsSummary: { hasDonations: false, totalDonations: 0, lastDonationAt: null },
      memberships: [],
      membershipsSummary: { activeMembershipCount: 0, totalMemberships: 0, primaryPlan: null },
      subscriptions: [],
      subscriptionsSummary: { activeSubscriptionCount: 0, totalSubscriptions: 0 },
      affiliate: { id: null, isActive: false, status: null }
    })
    expect(roles).toEqual({ wpRoles: ['customer'], serviceRoles: [] })
    for (const module of off) switchModule(shop.db, module, true, 2)
    expect(summaryOf(shop, user)).toEqual(before)
  })
})

describe('the entitlements of a person who has nothing', () => {
  it('are empty, and each list is there', async () => {
    using shop = openTestShop()
    const { user, entitlements, roles, profile, consent } = summaryOf(shop, await person(shop))
    hasExactly(user, ['id', 'email', 'displayName', 'roles', 'createdAt'])
    hasExactly(entitlements, keys.entitlements)
    expect(entitlements).toMatchObject({
      orders: [],
      donations: { donations: [] },
      memberships: [],
      membershipsSummary: { primaryPlan: null },
      subscriptions: [],
      affiliate: { id: null, isActive: false, status: null }
    })
    expect(roles).toEqual({ wpRoles: ['customer'], serviceRoles: [] })
    expect(profile).toEqual({ firstName: null, lastName: null })
    expect(consent).toEqual({ marketingOptIn: false, termsAcceptedAt: null, privacyAcceptedAt: null })
  })

  it('are the same without a user', () => {
    using shop = openTestShop()
    const { user, flags, entitlements } = accountSummary(shop.db, null, { isLoggedIn: false }, shop.clock.now())
    expect(user).toBeNull()
    expect(flags).toMatchObject({ isLoggedIn: false, hasCommerce: true, isAffiliate: false })
    hasExactly(entitlements, keys.entitlements)
  })

  it('name no forms provider when both forms modules are off', async () => {
    using shop = openTestShop()
    const user = await person(shop)
    switchModule(shop.db, 'formsA', false, 1)
    switchModule(shop.db, 'formsB', false, 1)
    expect(summaryOf(shop, user).entitlements.formsProvider).toBeNull()
  })
})

describe('roles, profile and lists', () => {
  it('name an administrator who is a pro member and no active affiliate', async () => {
    using shop = openTestShop()
    seedPlans(shop)
    const { id } = await person(shop)
    makeAffiliate(shop, id, 'inactive')
    shop.db.orm.update(users).set({ isAdmin: true }).where(eq(users.id, id)).run()
    const pro: GrantSpec = { kind: 'membership', module: 'A', plan: 'head-keeper', period: null }
    buy(shop, { userId: id, orderId: 1, productId: product(shop), grants: [pro] })
    const user = getUserById(shop.db, id)
    expect(summaryOf(shop, user).roles).toEqual({
      wpRoles: ['customer', 'administrator'],
      serviceRoles: ['member', 'pro', 'admin']
    })
    expect(rolesOf(shop.db, user)).toEqual(['customer', 'administrator'])
  })

  it('take names from the core profile where the custom one has none', async () => {
    using shop = openTestShop()
    const user = await person(shop)
    shop.db.orm.update(users).set({ firstName: 'Core', lastName: 'Name' }).where(eq(users.id, user.id)).run()
    shop.db.orm.delete(registrationProfiles).run()
    expect(summaryOf(shop, getUserById(shop.db, user.id)).profile).toEqual({ firstName: 'Core', lastName: 'Name' })
    shop.db.orm.insert(registrationProfiles).values({ userId: user.id, firstName: 'Custom', lastName: null }).run()
    expect(summaryOf(shop, getUserById(shop.db, user.id)).profile).toEqual({ firstName: 'Custom', lastName: 'Name' })
  })

  it('list the newest twenty orders and count all', async () => {
    using shop = openTestShop()
    const user = await person(shop)
    for (let index = 0; index < 25; index += 1) placeOrder(shop, user.id, 'pending', 1000 + index)
    const { orders, ordersSummary } = summaryOf(shop, user).entitlements
    expect(orders.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, index) => 25 - index))
    expect(ordersSummary).toEqual({
      hasAnyCompletedOrder: false,
      totalOrders: 25,
      lastOrderAt: '1970-01-01T00:00:01.024Z'
    })
  })

  it('choose of two plans of one rank the one that lasts longer', async () => {
    using shop = openTestShop()
    seedPlans(shop)
    shop.db.sqlite.exec('UPDATE plans SET rank = 5')
    const { id } = await person(shop)
    buy(shop, { userId: id, orderId: 1, productId: product(shop), grants })
    const user = getUserById(shop.db, id)
    expect(summaryOf(shop, user).entitlements.membershipsSummary.primaryPlan).toMatchObject({
      planSlug: 'makers-guild'
    })
  })
})
