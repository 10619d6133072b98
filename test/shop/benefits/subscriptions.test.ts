import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { Tx } from '../../../src/platform/db/database.ts'
import { subscriptionsOf } from '../../../src/shop/benefits/records.ts'
import { isSubscriptionInForce, renewalGraceMs, subscriptionStatus } from '../../../src/shop/benefits/status.ts'
import {
  endSubscription,
  linkSubscription,
  markPastDue,
  renewSubscription,
  reportFailedTry,
  setCancelAtPeriodEnd
} from '../../../src/shop/benefits/subscriptions.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { at, buy, eventTypes, monthly, person, product, refund } from './support.ts'

const firstEnd = at('2026-02-15T12:00:00Z')
const secondEnd = at('2026-03-15T12:00:00Z')

async function subscribed(shop: TestShop) {
  const { id: userId } = await person(shop)
  buy(shop, { userId, orderId: 1, productId: product(shop), grants: [monthly] })
  change(shop, (tx) =>
    linkSubscription(tx, { orderId: 1, gatewayId: 'sub_1', currentPeriodEnd: firstEnd }, shop.clock.now())
  )
  const standing = (now: number) =>
    subscriptionsOf(shop.db, userId).map((row) => [subscriptionStatus(row, now), isSubscriptionInForce(row, now)])
  return { userId, standing }
}

function change<T>(shop: TestShop, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): T {
  return write(shop.db, work)
}

describe('a subscription that Stripe renews', () => {
  it('continues with each paid renewal, and emits one event for each', async () => {
    using shop = openTestShop()
    const { standing } = await subscribed(shop)
    const now = shop.clock.now()
    for (let report = 0; report < 2; report += 1) {
      expect(change(shop, (tx) => renewSubscription(tx, 'sub_1', secondEnd, now))).toBe(true)
    }
    expect(standing(firstEnd + 86_400_000)).toEqual([['active', true]])
    expect(eventTypes(shop)).toEqual(['subscription.started', 'subscription.renewed'])
  })

  it('never goes back to an earlier period, whatever order the reports come in', async () => {
    using shop = openTestShop()
    const { userId } = await subscribed(shop)
    change(shop, (tx) => renewSubscription(tx, 'sub_1', secondEnd, 1))
    change(shop, (tx) => renewSubscription(tx, 'sub_1', firstEnd, 2))
    expect(subscriptionsOf(shop.db, userId)[0]?.currentPeriodEnd).toBe(secondEnd)
  })

  it('stays active while Stripe drafts the renewal, and has expired when none came', async () => {
    using shop = openTestShop()
    const { standing } = await subscribed(shop)
    expect(standing(firstEnd + renewalGraceMs - 1)).toEqual([['active', true]])
    expect(standing(firstEnd + renewalGraceMs)).toEqual([['expired', false]])
  })

  it('keeps its access for the grace days after a failed payment, and is active once that is paid', async () => {
    using shop = openTestShop()
    const { standing } = await subscribed(shop)
    change(shop, (tx) => markPastDue(tx, 'sub_1', firstEnd))
    const week = 7 * 24 * 60 * 60_000
    expect(standing(firstEnd + week - 1)).toEqual([['past_due', true]])
    expect(standing(firstEnd + week)).toEqual([['past_due', false]])
    change(shop, (tx) => renewSubscription(tx, 'sub_1', secondEnd, firstEnd + 2))
    expect(standing(firstEnd + 3)).toEqual([['active', true]])
  })

  it('reports each failed attempt once, and not those of another subscription', async () => {
    using shop = openTestShop()
    const { userId } = await subscribed(shop)
    buy(shop, { userId, orderId: 2, productId: product(shop, 'almanac'), grants: [monthly] })
    change(shop, (tx) =>
      linkSubscription(tx, { orderId: 2, gatewayId: 'sub_2', currentPeriodEnd: firstEnd }, shop.clock.now())
    )
    const report = (gatewayId: string, attempt: string): boolean =>
      change(shop, (tx) => reportFailedTry(tx, gatewayId, attempt))
    expect([report('sub_1', 'in_1 1'), report('sub_1', 'in_1 1'), report('sub_1', 'in_1 2')]).toEqual([
      true,
      false,
      true
    ])
    expect([report('sub_2', 'in_1 2'), report('sub_1', 'in_1 2'), report('sub_3', 'in_1 2')]).toEqual([
      true,
      false,
      false
    ])
  })

  it('that ends with its period is active until then and cancelled from then on', async () => {
    using shop = openTestShop()
    const { userId, standing } = await subscribed(shop)
    change(shop, (tx) => setCancelAtPeriodEnd(tx, 'sub_1', true))
    expect(subscriptionsOf(shop.db, userId)[0]?.cancelAtPeriodEnd).toBe(true)
    expect(standing(firstEnd - 1)).toEqual([['active', true]])
    expect(standing(firstEnd)).toEqual([['cancelled', false]])
    change(shop, (tx) => setCancelAtPeriodEnd(tx, 'sub_1', false))
    expect(standing(firstEnd)).toEqual([['active', true]])
  })

  it('that was cancelled stays in force for what is paid, and is never renewed', async () => {
    using shop = openTestShop()
    const { standing } = await subscribed(shop)
    const now = shop.clock.now()
    for (let report = 0; report < 2; report += 1) change(shop, (tx) => endSubscription(tx, 'sub_1', now))
    expect(standing(firstEnd - 1)).toEqual([['cancelled', true]])
    change(shop, (tx) => renewSubscription(tx, 'sub_1', secondEnd, now))
    expect(standing(firstEnd)).toEqual([['cancelled', false]])
    expect(eventTypes(shop)).toEqual(['subscription.started', 'subscription.ended'])
  })

  it('that is refunded ends at once, and keeps the name by which it is cancelled at Stripe', async () => {
    using shop = openTestShop()
    const { standing, userId } = await subscribed(shop)
    change(shop, (tx) => endSubscription(tx, 'sub_1', shop.clock.now()))
    shop.clock.advance(1000)
    refund(shop, 1)
    expect(standing(shop.clock.now())).toEqual([['cancelled', false]])
    expect(subscriptionsOf(shop.db, userId)).toMatchObject([{ gatewayId: 'sub_1' }])
  })

  it('carries every subscription product of its order', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    buy(shop, { userId, orderId: 1, productId: product(shop), grants: [monthly, { ...monthly, pro: true }] })
    const now = shop.clock.now()
    change(shop, (tx) => linkSubscription(tx, { orderId: 1, gatewayId: 'sub_1', currentPeriodEnd: firstEnd }, now))
    change(shop, (tx) => renewSubscription(tx, 'sub_1', secondEnd, now))
    expect(subscriptionsOf(shop.db, userId).map(({ currentPeriodEnd }) => currentPeriodEnd)).toEqual([
      secondEnd,
      secondEnd
    ])
    refund(shop, 1)
    expect(subscriptionsOf(shop.db, userId).map(({ cancelledAt }) => cancelledAt)).toEqual([now, now])
  })

  it('is given again to the date that has been paid by then', async () => {
    using shop = openTestShop()
    const { userId } = await subscribed(shop)
    change(shop, (tx) => renewSubscription(tx, 'sub_1', secondEnd, shop.clock.now()))
    refund(shop, 1)
    buy(shop, { userId, orderId: 1, productId: product(shop, 'almanac'), grants: [monthly] })
    const running = subscriptionsOf(shop.db, userId).filter(({ cancelledAt }) => cancelledAt === null)
    expect(running).toMatchObject([{ gatewayId: 'sub_1', currentPeriodEnd: secondEnd }])
  })

  it('is taken over by no other', async () => {
    using shop = openTestShop()
    const { userId } = await subscribed(shop)
    const other = { orderId: 1, gatewayId: 'sub_2', currentPeriodEnd: secondEnd }
    change(shop, (tx) => linkSubscription(tx, other, shop.clock.now()))
    expect(subscriptionsOf(shop.db, userId)).toMatchObject([{ gatewayId: 'sub_1', currentPeriodEnd: firstEnd }])
  })

  it('is not that of another whose id begins alike, nor of another shop', async () => {
    using shop = openTestShop()
    const { userId } = await subscribed(shop)
    expect(change(shop, (tx) => renewSubscription(tx, 'sub_', secondEnd, 1))).toBe(false)
    expect(change(shop, (tx) => markPastDue(tx, 'sub_2', 1))).toBe(false)
    expect(change(shop, (tx) => endSubscription(tx, 'sub_12', 1))).toBe(false)
    expect(subscriptionsOf(shop.db, userId)[0]).toMatchObject({ currentPeriodEnd: firstEnd, cancelledAt: null })
  })
})

describe('a fixed term', () => {
  it('expires with its last millisecond, without grace', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    buy(shop, { userId, orderId: 1, productId: product(shop), grants: [monthly] })
    const [row] = subscriptionsOf(shop.db, userId)
    expect(row && subscriptionStatus(row, firstEnd - 1)).toBe('active')
    expect(row && subscriptionStatus(row, firstEnd)).toBe('expired')
  })
})
