import { describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { applyPlans } from '../../src/shop/benefits/plans.ts'
import { linkSubscription } from '../../src/shop/benefits/subscriptions.ts'
import { shopstead } from '../support/command-line.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'
import { buy, monthly, person, product } from '../shop/benefits/support.ts'

const benefits = (shop: TestShop, ...args: string[]) => shopstead(shop.dataDir, ['benefits', ...args, '--json'])

describe('benefits on the command line', () => {
  it('are given, listed and revoked', async () => {
    using shop = openTestShop()
    const user = await person(shop)
    product(shop, 'tide-letter')
    const plan = { slug: 'keepers-circle', name: "Keepers' Circle", module: 'A' as const, rank: 20, pro: false }
    write(shop.db, (tx) => applyPlans(tx, [plan]))
    const grants = [
      ['membership', '--plan', 'keepers-circle', '--period', 'P1Y'],
      ['subscription', '--product', 'tide-letter', '--interval', 'month', '--pro'],
      ['course', '--course', 'knots'],
      ['download', '--product', 'tide-letter', '--file', 'letter.txt', '--days', '30'],
      ['donation', '--amount', '12.50']
    ]
    for (const grant of grants) expect((await benefits(shop, 'grant', user.email, ...grant)).code).toBe(0)
    const { json } = await benefits(shop, 'list', user.email)
    expect(json).toMatchObject({
      user: { id: user.id, email: user.email },
      memberships: [{ id: 1, planSlug: 'keepers-circle', status: 'active', orderId: null }],
      subscriptions: [{ id: 1, interval: 'month', status: 'active' }],
      courses: [{ course: 'knots' }],
      downloads: [{ file: 'letter.txt' }],
      donations: [{ amount: 12.5, currency: 'EUR', campaign: null }]
    })
    expect(await benefits(shop, 'revoke', 'membership', '1', '--yes')).toMatchObject({
      code: 0,
      json: { revoked: { kind: 'membership', id: 1, gatewayId: null } }
    })
    const again = await benefits(shop, 'revoke', 'membership', '1', '--yes')
    expect(again).toMatchObject({ code: 1, json: { error: { code: 'NOT_FOUND' } } })
  })

  it('are revoked, and the server cancels them at Stripe', async () => {
    using shop = openTestShop()
    const { id: userId } = await person(shop)
    buy(shop, { userId, orderId: 1, productId: product(shop), grants: [monthly] })
    const now = shop.clock.now()
    write(shop.db, (tx) => linkSubscription(tx, { orderId: 1, gatewayId: 'sub_1', currentPeriodEnd: now + 1 }, now))
    const { stdout } = await shopstead(shop.dataDir, ['benefits', 'revoke', 'subscription', '1', '--yes'])
    expect(stdout).toContain('The server cancels sub_1 at Stripe within a minute')
  })

  it('name what is missing, what is another kind’s, and what there is none of', async () => {
    using shop = openTestShop()
    const { email } = await person(shop)
    expect(await benefits(shop, 'grant', email, 'membership', '--course', 'knots')).toMatchObject({
      code: 1,
      json: {
        error: {
          code: 'VALIDATION_FAILED',
          details: { fieldErrors: { plan: [expect.any(String)], course: [expect.any(String)] } }
        }
      }
    })
    expect(await benefits(shop, 'grant', email, 'membership', '--plan', 'nope')).toMatchObject({
      code: 1,
      json: { error: { code: 'NOT_FOUND' } }
    })
    expect(await benefits(shop, 'revoke', 'castle', '1', '--yes')).toMatchObject({
      code: 2,
      json: { error: { code: 'USAGE' } }
    })
    expect(await benefits(shop, 'revoke', 'course', '1')).toMatchObject({
      code: 2,
      json: { error: { code: 'USAGE' } }
    })
  })
})
