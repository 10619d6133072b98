import { expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { insertImportedReferral, updateImportedReferral } from '../../../src/shop/payouts/imported-affiliate.ts'
import type { ImportedReferral } from '../../../src/shop/payouts/imported-affiliate.ts'
import { balanceOf } from '../../../src/shop/referrals/ledger.ts'
import { linesOf } from '../../../src/shop/referrals/lines.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { makeAffiliate, referralOf } from '../affiliates/support.ts'
import { draft, line, makeProduct, place } from '../orders/support.ts'

/** A shop with an affiliate and two referrals of another shop, of orders of 20 and 5 euros. */
async function withReferrals(status: ImportedReferral['status']) {
  const shop = openTestShop()
  const affiliate = await makeAffiliate(shop)
  const product = makeProduct(shop.db)
  const orderIds = [2000, 500].map((unitPriceMinor) => place(shop.db, draft([line(product, { unitPriceMinor })])).id)
  const createdAt = shop.clock.now()
  for (const [index, orderId] of orderIds.entries())
    write(shop.db, (tx) =>
      insertImportedReferral(tx, affiliate, {
        orderId,
        status,
        amountMinor: index === 0 ? 300 : 100,
        currency: 'EUR',
        createdAt,
        rateBps: 1500,
        campaign: null
      })
    )
  shop.clock.advance(1000)
  const [first = 0, second = 0] = orderIds
  const update = (values: Pick<ImportedReferral, 'status' | 'amountMinor'>) =>
    write(shop.db, (tx) => updateImportedReferral(tx, referralOf(shop, first), values, shop.clock.now()))
  return { shop, affiliate, first, second, createdAt, update }
}

it('a referral that was decided in the other shop since gets its state and amount, and another one stays', async () => {
  const { shop, affiliate, first, second, createdAt, update } = await withReferrals('unpaid')
  using _shop = shop
  expect(balanceOf(shop.db, affiliate.id)).toMatchObject({ unpaidMinor: 400 })
  const other = referralOf(shop, second)
  expect(update({ status: 'unpaid', amountMinor: 300 })).toBe(false)
  expect(update({ status: 'unpaid', amountMinor: 250 })).toBe(true)
  expect(referralOf(shop, first)).toMatchObject({ status: 'unpaid', amountMinor: 250, acceptedAt: createdAt })
  expect(linesOf(shop.db, referralOf(shop, first).id)).toMatchObject([{ commissionMinor: 250, takenBackMinor: 0 }])
  expect(balanceOf(shop.db, affiliate.id)).toMatchObject({ unpaidMinor: 350 })
  expect(update({ status: 'rejected', amountMinor: 250 })).toBe(true)
  expect(referralOf(shop, first)).toMatchObject({ status: 'rejected', acceptedAt: null, rejectedFor: 'imported' })
  expect(balanceOf(shop.db, affiliate.id)).toMatchObject({ unpaidMinor: 100 })
  expect(referralOf(shop, second)).toEqual(other)
  expect(update({ status: 'unpaid', amountMinor: 250 })).toBe(true)
  expect(referralOf(shop, first)).toMatchObject({ status: 'unpaid', acceptedAt: createdAt, rejectedFor: null })
  expect(balanceOf(shop.db, affiliate.id)).toMatchObject({ unpaidMinor: 350 })
})
