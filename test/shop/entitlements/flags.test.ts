import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { getUserById } from '../../../src/shop/accounts/find.ts'
import { users } from '../../../src/shop/accounts/schema.ts'
import { grantByHand } from '../../../src/shop/benefits/operator-grants.ts'
import { endSubscription, linkSubscription } from '../../../src/shop/benefits/subscriptions.ts'
import type { GrantSpec } from '../../../src/shop/catalog/grants.ts'
import { accountSummary } from '../../../src/shop/entitlements/entitlements.ts'
import type { Flags } from '../../../src/shop/entitlements/shapes.ts'
import { switchModule } from '../../../src/shop/settings/settings.ts'
import type { ModuleName } from '../../../src/shop/settings/modules.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { buy, monthly, person, product, refund } from '../benefits/support.ts'
import { makeAffiliate, placeOrder, seedPlans, summaryOf } from './records.ts'

const dayMs = 86_400_000

async function customer() {
  const shop = openTestShop()
  seedPlans(shop)
  const { id } = await person(shop)
  const productId = product(shop)
  return {
    shop,
    id,
    productId,
    flags: (): Flags => summaryOf(shop, getUserById(shop.db, id)).flags,
    buys: (...grants: GrantSpec[]) => buy(shop, { userId: id, orderId: 1, productId, grants }),
    [Symbol.dispose]: () => shop[Symbol.dispose]()
  }
}

const circle: GrantSpec = { kind: 'membership', module: 'A', plan: 'keepers-circle', period: 'P1M' }
const guild: GrantSpec = { kind: 'membership', module: 'B', plan: 'makers-guild', period: 'P1M' }

describe('a module flag', () => {
  const modules: [keyof Flags, ModuleName][] = [
    ['hasCommerce', 'commerce'],
    ['hasMembershipsA', 'membershipsA'],
    ['hasMembershipsB', 'membershipsB'],
    ['hasAffiliates', 'affiliates'],
    ['hasDownloads', 'downloads'],
    ['hasFormsA', 'formsA'],
    ['hasFormsB', 'formsB'],
    ['hasDonations', 'donations']
  ]
  it.each(modules)('%s is true while %s is on', async (flag, module) => {
    using shop = await customer()
    expect(shop.flags()[flag]).toBe(true)
    switchModule(shop.shop.db, module, false, 1)
    expect(shop.flags()[flag]).toBe(false)
    switchModule(shop.shop.db, module, true, 2)
    expect(shop.flags()[flag]).toBe(true)
  })
})

describe('a flag of the account', () => {
  it('isLoggedIn follows the session, not the account', async () => {
    using shop = openTestShop()
    const user = await person(shop)
    expect(accountSummary(shop.db, user, { isLoggedIn: true }, 0).flags.isLoggedIn).toBe(true)
    expect(accountSummary(shop.db, user, { isLoggedIn: false }, 0).flags.isLoggedIn).toBe(false)
  })

  it('isAdmin is the role administrator', async () => {
    using shop = await customer()
    expect(shop.flags().isAdmin).toBe(false)
    shop.shop.db.orm.update(users).set({ isAdmin: true }).where(eq(users.id, shop.id)).run()
    expect(shop.flags().isAdmin).toBe(true)
  })

  it('isAffiliate is any affiliate account, isAffiliateApproved an active one', async () => {
    using shop = await customer()
    expect(shop.flags()).toMatchObject({ isAffiliate: false, isAffiliateApproved: false })
    makeAffiliate(shop.shop, shop.id, 'pending')
    expect(shop.flags()).toMatchObject({ isAffiliate: true, isAffiliateApproved: false })
    shop.shop.db.sqlite.exec(`UPDATE affiliates SET status = 'active'`)
    expect(shop.flags()).toMatchObject({ isAffiliate: true, isAffiliateApproved: true })
    switchModule(shop.shop.db, 'affiliates', false, 1)
    expect(shop.flags()).toMatchObject({ isAffiliate: false, isAffiliateApproved: false })
  })
})

describe('a flag of what was bought', () => {
  it('hasAnyCompletedStoreOrder takes a completed order of one’s own', async () => {
    using shop = await customer()
    const other = await person(shop.shop, 'other@shop.example')
    for (const status of ['pending', 'failed', 'processing', 'refunded'] as const)
      placeOrder(shop.shop, shop.id, status)
    placeOrder(shop.shop, other.id, 'completed')
    placeOrder(shop.shop, null, 'completed')
    expect(shop.flags().hasAnyCompletedStoreOrder).toBe(false)
    placeOrder(shop.shop, shop.id, 'completed')
    expect(shop.flags().hasAnyCompletedStoreOrder).toBe(true)
    switchModule(shop.shop.db, 'commerce', false, 1)
    expect(shop.flags().hasAnyCompletedStoreOrder).toBe(false)
  })

  it('hasActiveMembershipA and B each take an active membership of their module, until it expires', async () => {
    using shop = await customer()
    expect(shop.flags()).toMatchObject({
      hasActiveMembershipA: false,
      hasActiveMembershipB: false,
      hasMembershipB: false
    })
    shop.buys(circle)
    expect(shop.flags()).toMatchObject({
      hasActiveMembershipA: true,
      hasActiveMembershipB: false,
      hasMembershipB: false
    })
    shop.shop.clock.advance(31 * dayMs)
    expect(shop.flags().hasActiveMembershipA).toBe(false)
  })

  it('hasMembershipB takes any membership of module B, active or not', async () => {
    using shop = await customer()
    shop.buys(guild)
    expect(shop.flags()).toMatchObject({
      hasActiveMembershipA: false,
      hasActiveMembershipB: true,
      hasMembershipB: true
    })
    shop.shop.clock.advance(31 * dayMs)
    expect(shop.flags()).toMatchObject({ hasActiveMembershipB: false, hasMembershipB: true })
    switchModule(shop.shop.db, 'membershipsB', false, 1)
    expect(shop.flags().hasMembershipB).toBe(false)
  })

  it('a refund ends the membership at once', async () => {
    using shop = await customer()
    shop.buys(circle, guild)
    refund(shop.shop, 1)
    expect(shop.flags()).toMatchObject({
      hasActiveMembershipA: false,
      hasActiveMembershipB: false,
      hasMembershipB: true
    })
  })

  it('hasActiveSubscription takes an active one, or one that was cancelled but is paid to a later date', async () => {
    using shop = await customer()
    expect(shop.flags().hasActiveSubscription).toBe(false)
    shop.buys(monthly)
    expect(shop.flags().hasActiveSubscription).toBe(true)
    const now = shop.shop.clock.now()
    write(shop.shop.db, (tx) => {
      linkSubscription(tx, { orderId: 1, gatewayId: 'sub_1', currentPeriodEnd: now + 30 * dayMs }, now)
      endSubscription(tx, 'sub_1', now)
    })
    expect(shop.flags().hasActiveSubscription).toBe(true)
    shop.shop.clock.advance(30 * dayMs)
    expect(shop.flags().hasActiveSubscription).toBe(false)
  })

  it('hasProAccess takes a pro plan', async () => {
    using shop = await customer()
    shop.buys(circle)
    expect(shop.flags().hasProAccess).toBe(false)
    const grant = { kind: 'membership' as const, plan: 'head-keeper', period: 'P1M' }
    grantByHand(shop.shop.db, shop.id, grant, shop.shop.clock.now())
    expect(shop.flags().hasProAccess).toBe(true)
    shop.shop.clock.advance(31 * dayMs)
    expect(shop.flags().hasProAccess).toBe(false)
  })

  it('hasProAccess takes a pro subscription', async () => {
    using shop = await customer()
    shop.buys(monthly)
    expect(shop.flags().hasProAccess).toBe(false)
    buy(shop.shop, { userId: shop.id, orderId: 2, productId: shop.productId, grants: [{ ...monthly, pro: true }] })
    expect(shop.flags().hasProAccess).toBe(true)
    shop.shop.clock.advance(31 * dayMs)
    expect(shop.flags().hasProAccess).toBe(false)
  })

  it('hasCourseEnrollments takes an enrolment that was not taken back', async () => {
    using shop = await customer()
    expect(shop.flags().hasCourseEnrollments).toBe(false)
    shop.buys({ kind: 'course', course: 'punched-tin-lantern' })
    expect(shop.flags().hasCourseEnrollments).toBe(true)
    switchModule(shop.shop.db, 'courses', false, 1)
    expect(shop.flags().hasCourseEnrollments).toBe(false)
    switchModule(shop.shop.db, 'courses', true, 2)
    refund(shop.shop, 1)
    expect(shop.flags().hasCourseEnrollments).toBe(false)
  })
})
