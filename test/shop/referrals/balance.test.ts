import { expect, test } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { balanceOf, getOwnAffiliate } from '../../../src/shop/referrals/ledger.ts'
import { acceptReferral } from '../../../src/shop/referrals/referrals.ts'
import { toAffiliate } from '../../../src/shop/affiliates/view.ts'
import { setSetting, switchModule } from '../../../src/shop/settings/settings.ts'
import { refusal } from '../../support/accounts.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeAffiliate, refer } from '../affiliates/support.ts'
import { pay, setOrder } from '../payouts/support.ts'

const nothing = { currency: 'EUR', pendingMinor: 0, unpaidMinor: 0, paidMinor: 0 }
const accept = (shop: TestShop, orderId: number) =>
  write(shop.db, (tx) => acceptReferral(tx, orderId, shop.clock.now()))

test('a balance contains the pending, unpaid and paid commissions in the currency of the shop', async () => {
  using shop = openTestShop()
  setSetting(shop.db, 'affiliates.payoutHoldDays', '0', 0)
  const { id } = await makeAffiliate(shop)
  const other = await makeAffiliate(shop, { code: 'petra' })
  expect(balanceOf(shop.db, id)).toEqual(nothing)
  refer(shop, id, 1, 10_000)
  refer(shop, id, 2, 5_000)
  refer(shop, other.id, 3)
  accept(shop, 1)
  expect(balanceOf(shop.db, id)).toEqual({ ...nothing, pendingMinor: 500, unpaidMinor: 1_000 })
  setOrder(shop, 1, 'completed')
  pay(shop)
  accept(shop, 2)
  expect(balanceOf(shop.db, id)).toEqual({ ...nothing, unpaidMinor: 500, paidMinor: 1_000 })
  setSetting(shop.db, 'shop.currency', 'USD', 0)
  expect(balanceOf(shop.db, id)).toEqual({ ...nothing, currency: 'USD' })
})

test('an affiliate with any status sees their account and balance', async () => {
  using shop = openTestShop()
  const affiliate = await makeAffiliate(shop, { status: 'rejected' })
  expect(getOwnAffiliate(shop, affiliate.userId, shop.clock.now())).toEqual({
    affiliate: toAffiliate(shop.db, affiliate, shop.clock.now()),
    balance: nothing,
    link: null,
    coupons: []
  })
  expect(() => getOwnAffiliate(shop, 99, shop.clock.now())).toThrow(refusal('AFFILIATE_NOT_FOUND'))
  switchModule(shop.db, 'affiliates', false, 0)
  expect(() => getOwnAffiliate(shop, affiliate.userId, shop.clock.now())).toThrow(refusal('AFFILIATE_NOT_FOUND'))
})
