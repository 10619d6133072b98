import { expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import {
  acceptReferral,
  rejectReferral,
  reopenReferral,
  repriceReferral
} from '../../../src/shop/referrals/referrals.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { wrongTotals } from '../../support/wrong-totals.ts'
import { Random } from '../../torture/random.ts'
import { makeAffiliate, oneLine, refer } from '../affiliates/support.ts'
import { pay, setOrder } from '../payouts/support.ts'

it('keeps the totals of referrals and commissions equal to their rows, whatever happens to them', async () => {
  using shop = openTestShop()
  setSetting(shop.db, 'affiliates.payoutHoldDays', '0', 0)
  const ids = [(await makeAffiliate(shop)).id, (await makeAffiliate(shop, { code: 'petra' })).id]
  const random = new Random(7)
  const orders = 20
  for (let order = 1; order <= orders; order += 1) {
    refer(shop, random.pick(ids), order, random.between(0, 20_000))
    setOrder(shop, order, 'completed')
    shop.clock.advance(random.between(0, 2) * 43_200_000)
  }
  const changes = [
    (order: number) => write(shop.db, (tx) => acceptReferral(tx, order, shop.clock.now())),
    (order: number) => write(shop.db, (tx) => rejectReferral(tx, order, 'order_refunded', shop.clock.now())),
    (order: number) => write(shop.db, (tx) => reopenReferral(tx, order, shop.clock.now())),
    (order: number) =>
      write(shop.db, (tx) => repriceReferral(tx, order, oneLine(random.between(0, 20_000)), shop.clock.now())),
    () => pay(shop)
  ]
  for (let step = 0; step < 200; step += 1) {
    random.pick(changes)(random.between(1, orders))
    expect(wrongTotals(shop.db.sqlite)).toEqual([])
  }
})
