import { describe, expect, it } from 'vitest'
import { basicRateBps, setOwnRate } from '../../../src/shop/affiliates/rates.ts'
import { takenBackMinor } from '../../../src/shop/referrals/commission.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { makeAffiliate, refer } from '../affiliates/support.ts'

describe('a commission', () => {
  it.each([
    [10_000, 0, 1_000],
    [10_000, 5_000, 500],
    [10_000, 10_000, 0],
    [1_005, 0, 101],
    [1_004, 0, 100],
    // The refunded share is rounded half up: 101 × 5 / 1005 is 0.50…, 101 × 4 / 1005 is 0.40….
    [1_005, 5, 100],
    [1_005, 4, 101],
    [1_005, 1_005, 0],
    [20, 10, 1],
    [10, 5, 0]
  ])('on %i with %i refunded is %i at ten percent', async (goodsMinor, refundedMinor, left) => {
    using shop = openTestShop()
    const { amountMinor: commissionMinor } = refer(shop, (await makeAffiliate(shop)).id, 1, goodsMinor)
    expect(commissionMinor - takenBackMinor({ commissionMinor, goodsMinor, refundedMinor })).toBe(left)
  })

  it('is exact for amounts that a double cannot represent, and takes nothing back of goods that cost nothing', () => {
    const goodsMinor = Number.MAX_SAFE_INTEGER
    const commission = { commissionMinor: goodsMinor, goodsMinor, refundedMinor: goodsMinor - 2 }
    expect(takenBackMinor(commission)).toBe(goodsMinor - 2)
    expect(takenBackMinor({ commissionMinor: 0, goodsMinor: 0, refundedMinor: 0 })).toBe(0)
  })

  it("has the affiliate's own rate, also zero, else the shop's", async () => {
    using shop = openTestShop()
    const now = shop.clock.now()
    const { id } = await makeAffiliate(shop)
    setSetting(shop.db, 'affiliates.rate', '12.34', now)
    expect(basicRateBps(shop.db, id, now)).toBe(1_234)
    for (const rateBps of [0, 750]) {
      setOwnRate(shop.db, 'mira', { rateBps }, now)
      expect(basicRateBps(shop.db, id, now)).toBe(rateBps)
    }
    setOwnRate(shop.db, 'mira', { rateBps: null }, now)
    expect(basicRateBps(shop.db, id, now)).toBe(1_234)
  })
})
