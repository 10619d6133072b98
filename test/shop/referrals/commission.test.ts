import { currentRateBps } from '../../../src/shop/affiliates/view.ts'
import { describe, expect, it } from 'vitest'
import { netCommissionMinor } from '../../../src/shop/referrals/commission.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

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
    [10, 5, 0],
    [0, 0, 0]
  ])('on %i with %i refunded is %i at ten percent', (goodsMinor, refundedGoodsMinor, left) => {
    expect(netCommissionMinor({ baseMinor: goodsMinor, goodsMinor, refundedGoodsMinor }, 1_000)).toBe(left)
  })

  it('counts the goods only: a refund reduces it by the share of the goods that was refunded', () => {
    const paid = { baseMinor: 10_000, goodsMinor: 12_500 }
    expect(netCommissionMinor({ ...paid, refundedGoodsMinor: 0 }, 1_000)).toBe(1_000)
    expect(netCommissionMinor({ ...paid, refundedGoodsMinor: 2_500 }, 1_000)).toBe(800)
    expect(netCommissionMinor({ ...paid, refundedGoodsMinor: 12_500 }, 1_000)).toBe(0)
  })

  it('is exact for amounts that a double cannot represent', () => {
    const goodsMinor = Number.MAX_SAFE_INTEGER
    expect(netCommissionMinor({ baseMinor: goodsMinor, goodsMinor, refundedGoodsMinor: goodsMinor - 2 }, 10_000)).toBe(
      2
    )
  })

  it("has the affiliate's own rate, also zero, else the shop's", () => {
    const shop = emptyShop()
    setSetting(shop, 'affiliates.rate', '12.34', noon)
    expect(currentRateBps(shop, { rateBps: null })).toBe(1_234)
    expect(currentRateBps(shop, { rateBps: 0 })).toBe(0)
    expect(currentRateBps(shop, { rateBps: 750 })).toBe(750)
  })
})
