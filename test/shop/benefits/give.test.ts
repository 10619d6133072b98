import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { grantByHand, revokeByHand } from '../../../src/shop/benefits/operator-grants.ts'
import { applyPlans } from '../../../src/shop/benefits/plans.ts'
import {
  donationsOf,
  downloadsOf,
  enrolmentsOf,
  membershipsOf,
  subscriptionsOf
} from '../../../src/shop/benefits/records.ts'
import { memberships } from '../../../src/shop/benefits/schema.ts'
import { isSubscriptionInForce, subscriptionStatus } from '../../../src/shop/benefits/status.ts'
import { statusOf, toMembership, toSubscription } from '../../../src/shop/benefits/view.ts'
import type { GrantSpec } from '../../../src/shop/catalog/grants.ts'
import { events } from '../../../src/shop/events/schema.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { at, buy, eventTypes, monthly, person, product, refund, yearOfA } from './support.ts'

const everything: GrantSpec[] = [
  yearOfA,
  monthly,
  { kind: 'course', course: 'punched-tin-lantern' },
  { kind: 'download', file: 'pattern.txt', days: 30 },
  { kind: 'donation', campaign: 'lighthouse-panes' }
]

describe('giving', () => {
  it('gives a line everything it grants, once however often it is reported', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    for (let report = 0; report < 3; report += 1) buy(shop, { userId, orderId: 1, productId, grants: everything })
    expect(membershipsOf(shop.db, userId)).toMatchObject([
      { planSlug: 'keepers-circle', endsAt: at('2027-01-15T12:00:00Z') }
    ])
    expect(subscriptionsOf(shop.db, userId)).toMatchObject([
      { productId, currentPeriodEnd: at('2026-02-15T12:00:00Z') }
    ])
    expect(enrolmentsOf(shop.db, userId)).toMatchObject([{ course: 'punched-tin-lantern' }])
    expect(downloadsOf(shop.db, userId)).toMatchObject([{ file: 'pattern.txt', endsAt: at('2026-02-14T12:00:00Z') }])
    expect(donationsOf(shop.db, userId)).toMatchObject({
      total: 1,
      donations: [{ orderId: 1, amountMinor: 2000, currency: 'EUR', campaign: 'lighthouse-panes' }]
    })
    expect(eventTypes(shop)).toEqual(['membership.started', 'subscription.started', 'donation.received'])
  })

  it('gives a guest nothing until an account takes the order in', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    buy(shop, { userId: null, orderId: 1, productId, grants: everything })
    expect(eventTypes(shop)).toEqual([])
    buy(shop, { userId, orderId: 1, productId, grants: everything })
    expect(membershipsOf(shop.db, userId)).toHaveLength(1)
  })

  it('gives as many periods as were bought, and a donation what its line comes to', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    buy(shop, { userId, orderId: 1, productId: product(shop), grants: everything, quantity: 3, totalMinor: 5400 })
    expect(membershipsOf(shop.db, userId)[0]?.endsAt).toBe(at('2029-01-15T12:00:00Z'))
    expect(subscriptionsOf(shop.db, userId)[0]?.currentPeriodEnd).toBe(at('2026-04-15T12:00:00Z'))
    expect(downloadsOf(shop.db, userId)[0]?.endsAt).toBe(at('2026-04-15T12:00:00Z'))
    expect(donationsOf(shop.db, userId).donations).toMatchObject([{ amountMinor: 5400 }])
    const reported = shop.db.orm.select().from(events).where(eq(events.type, 'donation.received')).all()
    expect(reported.map(({ payload }) => payload)).toEqual([
      { donationId: expect.any(Number), orderId: 1, amountMinor: 5400, currency: 'EUR' }
    ])
  })

  it('receives no donation of nothing, and shares a line between two campaigns', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    const grants: GrantSpec[] = ['panes', 'lifeboat'].map((campaign) => ({ kind: 'donation', campaign }))
    buy(shop, { userId, orderId: 1, productId, grants, totalMinor: 0 })
    buy(shop, { userId, orderId: 2, productId, grants, totalMinor: 1001 })
    const amounts = donationsOf(shop.db, userId).donations.map(({ amountMinor }) => amountMinor)
    expect(amounts.toSorted((a, b) => a - b)).toEqual([500, 501])
  })

  it('lists the newest hundred of a person who donated more often, and counts all', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    const grants: GrantSpec[] = [{ kind: 'donation', campaign: 'panes' }]
    for (const [times, listed] of [
      [100, 100],
      [1, 100]
    ] as const) {
      const { total } = donationsOf(shop.db, userId)
      for (let index = 1; index <= times; index += 1)
        buy(shop, { userId, orderId: total + index, productId, grants, totalMinor: 100 + total + index })
      const now = donationsOf(shop.db, userId)
      expect([now.total, now.donations.length, now.donations[0]?.amountMinor]).toEqual([
        total + times,
        listed,
        100 + total + times
      ])
    }
  })

  it('keeps a paid order of an unknown plan, which then ranks lowest', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    buy(shop, { userId, orderId: 1, productId: product(shop), grants: [yearOfA] })
    expect(membershipsOf(shop.db, userId)).toMatchObject([
      { planName: 'keepers-circle', rank: 0, isPro: false, module: 'A' }
    ])
  })

  it('keeps what has expired by time alone, and gives the same line nothing more', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    const before = at('2027-01-15T12:00:00Z') - 1
    buy(shop, { userId, orderId: 1, productId, grants: [yearOfA] })
    const [membership] = membershipsOf(shop.db, userId)
    if (membership === undefined) throw new Error('No membership was given.')
    expect(statusOf(membership, before)).toBe('active')
    expect(statusOf(membership, before + 1)).toBe('expired')
    shop.clock.set(before + 1)
    buy(shop, { userId, orderId: 1, productId, grants: [yearOfA] })
    expect(membershipsOf(shop.db, userId)).toHaveLength(1)
  })
})

describe('what is bought again', () => {
  it('goes on where the first period ends, and is shown as one', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    const grants: GrantSpec[] = [yearOfA, monthly, { kind: 'download', file: 'pattern.txt', days: 30 }]
    buy(shop, { userId, orderId: 1, productId, grants })
    shop.clock.advance(10 * 86_400_000)
    buy(shop, { userId, orderId: 2, productId, grants })
    const now = shop.clock.now()
    expect(membershipsOf(shop.db, userId).map((record) => toMembership(record, now))).toEqual([
      {
        id: 1,
        module: 'A',
        planId: 1,
        planSlug: 'keepers-circle',
        planName: 'keepers-circle',
        status: 'active',
        startedAt: '2026-01-15T12:00:00.000Z',
        expiresAt: '2028-01-15T12:00:00.000Z',
        isPro: false
      }
    ])
    expect(subscriptionsOf(shop.db, userId).map((record) => toSubscription(record, now))).toEqual([
      {
        id: 1,
        productId,
        name: 'Product keepers-circle',
        status: 'active',
        interval: 'month',
        currentPeriodEnd: '2026-03-15T12:00:00.000Z',
        cancelAtPeriodEnd: false
      }
    ])
    expect(downloadsOf(shop.db, userId)[1]?.endsAt).toBe(at('2026-03-16T12:00:00Z'))
  })

  it('starts anew when the first has expired, and beside one for life', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    buy(shop, { userId, orderId: 1, productId, grants: [yearOfA] })
    shop.clock.set(at('2027-06-01T00:00:00Z'))
    buy(shop, { userId, orderId: 2, productId, grants: [{ ...yearOfA, period: null }] })
    buy(shop, { userId, orderId: 3, productId, grants: [yearOfA] })
    const found = membershipsOf(shop.db, userId).map(({ startedAt, endsAt }) => ({ startedAt, endsAt }))
    expect(found).toEqual([
      { startedAt: at('2027-06-01T00:00:00Z'), endsAt: at('2028-06-01T00:00:00Z') },
      { startedAt: at('2027-06-01T00:00:00Z'), endsAt: null },
      { startedAt: at('2026-01-15T12:00:00Z'), endsAt: at('2027-01-15T12:00:00Z') }
    ])
  })
})

describe('taking back', () => {
  it('ends everything that the order gave, once, and nothing of another', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    buy(shop, { userId, orderId: 1, productId, grants: everything })
    buy(shop, { userId, orderId: 2, productId: product(shop, 'other'), grants: [{ kind: 'course', course: 'knots' }] })
    refund(shop, 1)
    refund(shop, 1)
    const now = shop.clock.now()
    expect(membershipsOf(shop.db, userId).map((record) => statusOf(record, now))).toEqual(['cancelled'])
    const [subscription] = subscriptionsOf(shop.db, userId)
    expect(subscription && subscriptionStatus(subscription, now)).toBe('cancelled')
    expect(subscription && isSubscriptionInForce(subscription, now)).toBe(false)
    expect(enrolmentsOf(shop.db, userId).map(({ course }) => course)).toEqual(['knots'])
    expect(downloadsOf(shop.db, userId)).toEqual([])
    expect(donationsOf(shop.db, userId)).toEqual({ donations: [], total: 0 })
    expect(
      eventTypes(shop)
        .filter((type) => type.endsWith('.ended'))
        .sort()
    ).toEqual(['membership.ended', 'subscription.ended'])
  })

  it('of the second of two periods leaves the first as it was', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    buy(shop, { userId, orderId: 1, productId, grants: [yearOfA] })
    buy(shop, { userId, orderId: 2, productId, grants: [yearOfA] })
    refund(shop, 2)
    const active = membershipsOf(shop.db, userId).filter((record) => statusOf(record, shop.clock.now()) === 'active')
    expect(active).toMatchObject([{ startedAt: at('2026-01-15T12:00:00Z'), endsAt: at('2027-01-15T12:00:00Z') }])
  })

  it('of the first of two periods lets the second begin at once, at its full length', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    const grants: GrantSpec[] = [yearOfA, monthly, { kind: 'download', file: 'pattern.txt', days: 30 }]
    for (const orderId of [1, 2, 3]) buy(shop, { userId, orderId, productId, grants })
    shop.clock.set(at('2026-01-25T12:00:00Z'))
    refund(shop, 1)
    const year = at('2028-01-15T12:00:00Z') - at('2027-01-15T12:00:00Z')
    const [membership] = membershipsOf(shop.db, userId)
    expect(membership).toMatchObject({
      startedAt: shop.clock.now(),
      endsAt: shop.clock.now() + year + 366 * 86_400_000
    })
    const [subscription] = subscriptionsOf(shop.db, userId)
    expect(subscription).toMatchObject({
      startedAt: shop.clock.now(),
      currentPeriodEnd: shop.clock.now() + 59 * 86_400_000
    })
    expect(downloadsOf(shop.db, userId).map(({ startedAt }) => startedAt)).toEqual([
      shop.clock.now(),
      shop.clock.now() + 30 * 86_400_000
    ])
  })

  it('of two lines on end in one order takes both back', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    buy(shop, { userId, orderId: 1, productId, grants: [yearOfA, { ...yearOfA, period: 'P1M' }] })
    buy(shop, { userId, orderId: 2, productId, grants: [yearOfA] })
    refund(shop, 1)
    const left = shop.db.orm
      .select()
      .from(memberships)
      .all()
      .filter(({ cancelledAt }) => cancelledAt === null)
    expect(left).toMatchObject([{ orderId: 2, startedAt: shop.clock.now(), expiresAt: at('2027-01-15T12:00:00Z') }])
  })

  it('lets an order that is paid after all give again', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    buy(shop, { userId, orderId: 1, productId, grants: everything })
    refund(shop, 1)
    buy(shop, { userId, orderId: 1, productId, grants: everything })
    const now = shop.clock.now()
    expect(
      membershipsOf(shop.db, userId)
        .map((record) => statusOf(record, now))
        .sort()
    ).toEqual(['active', 'cancelled'])
    expect(donationsOf(shop.db, userId).total).toBe(1)
  })
})

describe('by hand', () => {
  it('gives what no order pays for, extending what runs', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const now = shop.clock.now()
    const plan = { slug: 'makers-guild', name: "Makers' Guild", module: 'B' as const, rank: 30, pro: true }
    write(shop.db, (tx) => {
      applyPlans(tx, [plan])
      grantByHand(tx, userId, { kind: 'membership', plan: 'makers-guild', period: 'P1M' }, now)
      return grantByHand(tx, userId, { kind: 'membership', plan: 'makers-guild', period: 'P1M' }, now)
    })
    expect(membershipsOf(shop.db, userId)).toMatchObject([
      { module: 'B', isPro: true, orderId: null, endsAt: at('2026-03-15T12:00:00Z') }
    ])
  })

  it('refuses a plan that the shop does not have, and a benefit that is not there', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const now = shop.clock.now()
    const grant = { kind: 'membership' as const, plan: 'nope', period: null }
    expect(() => grantByHand(shop.db, userId, grant, now)).toThrow('The plan "nope" does not exist.')
    expect(() => revokeByHand(shop.db, 'course', 7, now)).toThrow('There is no active course 7 to revoke.')
  })

  it('ends what an order gave so that the order does not give it again', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    const productId = product(shop)
    buy(shop, { userId, orderId: 1, productId, grants: [yearOfA] })
    revokeByHand(shop.db, 'membership', 1, shop.clock.now())
    buy(shop, { userId, orderId: 1, productId, grants: [yearOfA] })
    expect(membershipsOf(shop.db, userId).map((record) => statusOf(record, shop.clock.now()))).toEqual(['cancelled'])
    expect(() => revokeByHand(shop.db, 'membership', 1, shop.clock.now())).toThrow(
      'There is no active membership 1 to revoke.'
    )
  })
})
