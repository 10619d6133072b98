import { describe, expect, it } from 'vitest'
import type { ModuleName } from '../../src/shop/settings/modules.ts'
import { switchModule } from '../../src/shop/settings/settings.ts'
import { benefitCatalog } from '../journeys/catalog.ts'
import { buy, me, registerUser, openShop, ordersOf, productId, writeDownload } from '../journeys/shop.ts'
import type { JourneyShop, Me } from '../journeys/shop.ts'
import { shopstead } from '../support/command-line.ts'

const credentials = { email: 'lena@shop.example', password: 'tidal-basalt-93' }

// Typed by hand from docs/interface.md 2.2 and 2.3.
const modules: { name: ModuleName; flag: string | null; dependency: string }[] = [
  { name: 'commerce', flag: 'hasCommerce', dependency: 'hasCommerce' },
  { name: 'membershipsA', flag: 'hasMembershipsA', dependency: 'hasMembershipsA' },
  { name: 'membershipsB', flag: 'hasMembershipsB', dependency: 'hasMembershipsB' },
  { name: 'affiliates', flag: 'hasAffiliates', dependency: 'hasAffiliates' },
  { name: 'downloads', flag: 'hasDownloads', dependency: 'hasDownloads' },
  { name: 'formsA', flag: 'hasFormsA', dependency: 'hasFormsA' },
  { name: 'formsB', flag: 'hasFormsB', dependency: 'hasFormsB' },
  { name: 'donations', flag: 'hasDonations', dependency: 'hasDonations' },
  // The interface has no flag for the module, only the one for a person's enrolments.
  { name: 'courses', flag: null, dependency: 'hasCourses' }
]

function turn(shop: JourneyShop, name: ModuleName, on: boolean): void {
  switchModule(shop.app.db, name, on, shop.clock.now())
}

type Summary = Pick<Me, 'flags' | 'entitlements'>

/** What register, login and /me say at this moment. */
async function readMe(
  shop: JourneyShop,
  session: Awaited<ReturnType<typeof registerUser>>,
  name: string
): Promise<Summary[]> {
  const registered = await shop.visitor().register({ email: `${name}@shop.example` })
  const loggedIn = await shop.visitor().post('/auth/login', credentials)
  return [registered.data as Summary, loggedIn.data as Summary, await me(session)]
}

describe.each(modules)('the module $name', ({ name, flag, dependency }) => {
  it('is shown in flags and dependencies of register, login and /me immediately, alone', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    turn(shop, name, false)
    const off = await readMe(shop, lena, 'first')
    turn(shop, name, true)
    const on = await readMe(shop, lena, 'second')
    for (const [index, { flags, entitlements }] of off.entries()) {
      const differing = Object.keys(flags).filter((key) => flags[key] !== on[index]?.flags[key])
      expect(differing).toEqual(flag === null ? [] : [flag])
      const absent = Object.entries(entitlements.dependencies).filter(([, is]) => !is)
      expect(absent).toEqual([[dependency, false]])
      expect(entitlements['summaries']).toMatchObject({ dependencies: entitlements.dependencies })
    }
    for (const { entitlements } of on) expect(Object.values(entitlements.dependencies)).toEqual(Array(9).fill(true))
  })
})

describe('a benefit of a module that is off', () => {
  it('is hidden, and visible again when the module is on', async () => {
    const shop = await openShop(benefitCatalog)
    writeDownload(shop, 'song.txt', 'la')
    const lena = await registerUser(shop, 'lena')
    for (const slug of ['head-keeper', 'guild', 'almanac', 'glazing', 'panes', 'song']) await buy(shop, lena, slug)
    await lena.post('/affiliates/apply', {})
    const full = await me(lena)
    const hidden = async (name: ModuleName) => {
      turn(shop, name, false)
      const now = await me(lena)
      turn(shop, name, true)
      expect(await me(lena)).toEqual(full)
      return now
    }
    const withoutA = await hidden('membershipsA')
    expect(withoutA.flags).toMatchObject({ hasActiveMembershipA: false, hasProAccess: false, hasMembershipB: true })
    expect(withoutA.entitlements.membershipsSummary).toMatchObject({
      activeMembershipCount: 1,
      totalMemberships: 1,
      primaryPlan: { planSlug: 'guild' }
    })
    const withoutB = await hidden('membershipsB')
    expect(withoutB.flags).toMatchObject({ hasActiveMembershipB: false, hasMembershipB: false, hasProAccess: true })
    const withoutStore = await hidden('commerce')
    expect(withoutStore.flags).toMatchObject({ hasAnyCompletedStoreOrder: false, hasActiveSubscription: false })
    expect(withoutStore.entitlements).toMatchObject({
      orders: [],
      subscriptions: [],
      ordersSummary: { totalOrders: 0 }
    })
    expect((await hidden('courses')).flags['hasCourseEnrollments']).toBe(false)
    expect((await hidden('donations')).entitlements).toMatchObject({
      donations: { donations: [] },
      donationsSummary: { hasDonations: false, totalDonations: 0, lastDonationAt: null }
    })
    const withoutAffiliates = await hidden('affiliates')
    expect(withoutAffiliates.flags).toMatchObject({ isAffiliate: false, isAffiliateApproved: false })
    expect(withoutAffiliates.entitlements.affiliate).toEqual({ id: null, isActive: false, status: null })
  })

  it('names the remaining forms provider', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    const provider = async () => (await me(lena)).entitlements.formsProvider
    expect(await provider()).toBe('formsA')
    turn(shop, 'formsA', false)
    expect(await provider()).toBe('formsB')
    turn(shop, 'formsB', false)
    expect(await provider()).toBeNull()
    turn(shop, 'formsA', true)
    expect(await provider()).toBe('formsA')
  })
})

describe('what depends on a module', () => {
  it('health reports it as active or missing, and is ok in both cases', async () => {
    const shop = await openShop(benefitCatalog)
    const visitor = shop.visitor()
    for (const name of ['commerce', 'membershipsA', 'affiliates'] as const) {
      turn(shop, name, false)
      const { data } = await visitor.get<{ status: string; dependencies: object }>('/health')
      const all = { commerce: 'active', membershipsA: 'active', affiliates: 'active' }
      expect([data.status, data.dependencies]).toEqual(['ok', { ...all, [name]: 'missing' }])
      turn(shop, name, true)
    }
  })

  it('commerce: offers are unavailable, checkout is disabled, orders are an empty list', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    await buy(shop, lena, 'mug')
    const { headers } = await lena.get('/store/offers')
    turn(shop, 'commerce', false)
    const offers = await lena.get('/store/offers')
    expect([offers.status, offers.error.code]).toEqual([503, 'DEPENDENCY_UNAVAILABLE'])
    const known = await lena.get('/store/offers', { 'if-none-match': headers.get('etag') ?? '' })
    expect(known.status).toBe(503)
    const checkout = await lena.post('/store/checkout-session', { items: [{ productId: 1, quantity: 1 }] })
    expect([checkout.status, checkout.error.code]).toEqual([403, 'CHECKOUT_DISABLED'])
    const orders = await lena.get<{ orders: unknown[]; pagination: object }>('/orders')
    expect(orders.data).toEqual({ orders: [], pagination: { page: 1, perPage: 20, total: 0, totalPages: 0 } })
    turn(shop, 'commerce', true)
    expect((await lena.get('/store/offers')).status).toBe(200)
    expect(await ordersOf(lena)).toHaveLength(1)
  })

  it('affiliates: no user has an account, can apply or is credited', async () => {
    const shop = await openShop(benefitCatalog)
    const mira = await registerUser(shop, 'mira')
    await mira.post('/affiliates/apply', {})
    turn(shop, 'affiliates', false)
    const other = await registerUser(shop, 'other')
    const refusals = [
      await mira.get('/affiliates/referrals'),
      await mira.get('/affiliates/me'),
      await mira.post('/affiliates/terms', { version: '1.0.0' }),
      await mira.post('/affiliates/apply', {}),
      await other.post('/affiliates/apply', {})
    ]
    for (const { status, error } of refusals) expect([status, error.code]).toEqual([404, 'AFFILIATE_NOT_FOUND'])
    const items = [{ productId: productId(shop, 'mug'), quantity: 1 }]
    await other.post('/store/checkout-session?ref=mira&campaign=spring', { items })
    expect((await ordersOf(other))[0]).toMatchObject({
      affiliateRef: '',
      affiliateReferralCreated: false,
      orderAttributionSourceType: 'typein'
    })
  })

  it('a running server applies a change by the command line immediately', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    expect((await shopstead(shop.dataDir, ['modules', 'disable', 'donations'])).code).toBe(0)
    expect((await me(lena)).flags['hasDonations']).toBe(false)
    const listed = await shopstead(shop.dataDir, ['modules', 'list', '--json'])
    expect((listed.json['modules'] as object[]).filter((module) => 'enabled' in module && !module.enabled)).toEqual([
      { name: 'donations', enabled: false }
    ])
    expect((await shopstead(shop.dataDir, ['modules', 'enable', 'donations'])).code).toBe(0)
    expect((await me(lena)).flags['hasDonations']).toBe(true)
  })
})
