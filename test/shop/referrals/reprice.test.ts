import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { repriceReferral } from '../../../src/shop/referrals/referrals.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeAffiliate, oneLine, refer, referralOf } from '../affiliates/support.ts'
import { earn } from '../payouts/support.ts'

describe('an unpaid order whose total changes', () => {
  const reprice = (shop: TestShop, orderId: number, totalMinor: number) =>
    write(shop.db, (tx) => repriceReferral(tx, orderId, oneLine(totalMinor), shop.clock.now()))

  it('changes the commission of its pending referral, at the same rate', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    refer(shop, id, 1)
    setSetting(shop.db, 'affiliates.rate', '20', shop.clock.now())
    reprice(shop, 1, 5_005)
    expect(referralOf(shop, 1)).toMatchObject({ status: 'pending', amountMinor: 501, rejectedFor: null })
  })

  it('rejects its referral when the total is zero', async () => {
    using shop = openTestShop()
    refer(shop, (await makeAffiliate(shop)).id, 1)
    reprice(shop, 1, 0)
    expect(referralOf(shop, 1)).toMatchObject({ status: 'rejected', amountMinor: 0, rejectedFor: 'nothing_to_pay' })
  })

  it('does not change a referral that is not pending', async () => {
    using shop = openTestShop()
    earn(shop, (await makeAffiliate(shop)).id, 1)
    const before = referralOf(shop, 1)
    reprice(shop, 1, 0)
    reprice(shop, 2, 0)
    expect(referralOf(shop, 1)).toEqual(before)
  })
})
