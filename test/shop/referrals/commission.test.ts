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
  ])('on %i with %i refunded is %i at ten percent', (totalMinor, refundedMinor, left) => {
    expect(netCommissionMinor({ baseMinor: totalMinor, totalMinor, refundedMinor }, 1_000)).toBe(left)
  })

  it('counts the goods only: a refund reduces it by the refunded share of everything that was paid', () => {
    const paid = { baseMinor: 10_000, totalMinor: 12_500 }
    expect(netCommissionMinor({ ...paid, refundedMinor: 0 }, 1_000)).toBe(1_000)
    expect(netCommissionMinor({ ...paid, refundedMinor: 2_500 }, 1_000)).toBe(800)
    expect(netCommissionMinor({ ...paid, refundedMinor: 12_500 }, 1_000)).toBe(0)
  })

  it('is exact for amounts that a double cannot represent', () => {
    const totalMinor = Number.MAX_SAFE_INTEGER
    expect(netCommissionMinor({ baseMinor: totalMinor, totalMinor, refundedMinor: totalMinor - 2 }, 10_000)).toBe(2)
  })

  it("has the affiliate's own rate, also zero, else the shop's", () => {
    const shop = emptyShop()
    setSetting(shop, 'affiliates.rate', '12.34', noon)
    expect(currentRateBps(shop, { rateBps: null })).toBe(1_234)
    expect(currentRateBps(shop, { rateBps: 0 })).toBe(0)
    expect(currentRateBps(shop, { rateBps: 750 })).toBe(750)
  })
})
