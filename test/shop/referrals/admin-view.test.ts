import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { getAffiliate } from '../../../src/shop/affiliates/find.ts'
import { recordVisit } from '../../../src/shop/affiliates/clicks.ts'
import { listAdminReferrals, showReferral, showAffiliate } from '../../../src/shop/referrals/admin.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { makeAffiliate, refer } from '../affiliates/support.ts'
import { earn } from '../payouts/support.ts'

describe('an operator', () => {
  it('sees referrals with their affiliate, order and ledger', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    const petra = await makeAffiliate(shop, { code: 'petra' })
    earn(shop, mira.id, 11)
    refer(shop, petra.id, 12)
    refer(shop, mira.id, 13)
    const row = { affiliateCode: 'mira', amountMinor: 1_000, currency: 'EUR', createdAtUtc: '2026-01-15T12:00:00.000Z' }
    expect(listAdminReferrals(shop.db, { affiliateId: mira.id, limit: 9 })).toEqual([
      { ...row, id: 3, orderId: 13, visitId: 3, status: 'pending' },
      { ...row, id: 1, orderId: 11, visitId: 1, status: 'unpaid' }
    ])
    expect(listAdminReferrals(shop.db, { status: 'pending', limit: 1 }).map((found) => found.id)).toEqual([3])
    expect(showReferral(shop.db, 1)).toMatchObject({
      referral: { id: 1, rate: 10, rejectedFor: null, acceptedAt: '2026-01-15T12:00:00.000Z' },
      entries: [{ kind: 'earned', amountMinor: 1_000, payoutId: null }]
    })
  })

  it('sees visits and conversions of an affiliate, in total and by campaign', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    earn(shop, mira.id, 1)
    refer(shop, mira.id, 2)
    earn(shop, mira.id, 3, 5_000)
    shop.db.sqlite.exec(`UPDATE visits SET campaign = 'spring' WHERE order_id IN (1, 2)`)
    write(shop.db, (tx) => recordVisit(tx, { affiliateId: mira.id, orderId: 4, campaign: 'spring' }, 0))
    const shown = showAffiliate(shop.db, getAffiliate(shop.db, 'mira'), shop.clock.now())
    expect(shown.visits).toEqual({ visits: 4, conversions: 2, conversionRate: 50, earnedMinor: 1_500 })
    expect(shown.campaigns).toEqual([
      { campaign: 'spring', clicks: 0, visits: 3, conversions: 1, conversionRate: 33.33, earnedMinor: 1_000 },
      { campaign: null, clicks: 0, visits: 1, conversions: 1, conversionRate: 100, earnedMinor: 500 }
    ])
    expect(shown.balance).toMatchObject({ pendingMinor: 1_000, unpaidMinor: 1_500 })
    expect(shown.affiliate).toMatchObject({ email: 'mira@shop.example', rate: 10, ownRate: null })
  })
})
