import { expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { recordBuyerEmail } from '../../../src/shop/orders/buyer.ts'
import { insertRenewal } from '../../../src/shop/orders/renewal-order.ts'
import type { OrderRow } from '../../../src/shop/orders/find.ts'
import { rejectAsOperator } from '../../../src/shop/payouts/decide-referral.ts'
import { setSetting, switchModule } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { credited, draft, line, makeAffiliate, makeProduct, makeUser, place, referralOf } from './support.ts'

const noon = Date.parse('2026-01-15T12:00:00Z')

/** A shop that pays commissions for renewals, with an order that an affiliate referred. */
function referredOrder(shop: TestShop): OrderRow {
  setSetting(shop.db, 'affiliates.renewals', 'true', noon)
  const affiliate = makeAffiliate(shop.db, makeUser(shop.db, 'mira@shop.example').id)
  return place(shop.db, draft([line(makeProduct(shop.db))], { email: null, attribution: credited(affiliate) }))
}

function renew({ db }: TestShop, original: OrderRow): OrderRow {
  const payment = { amountMinor: original.totalMinor, currency: 'EUR', by: 'webhook' }
  return write(db, (tx) => insertRenewal(tx, original, payment, noon))
}
const renewedReferral = (shop: TestShop, original: OrderRow) => referralOf(shop.db, renew(shop, original).id)

it('a renewal earns as the first order did', () => {
  using shop = openTestShop()
  expect(renewedReferral(shop, referredOrder(shop))).toMatchObject({ status: 'pending', rejectedFor: null })
})

it('a renewal of a referral that an operator rejected earns nothing, for the same reason', () => {
  using shop = openTestShop()
  const order = referredOrder(shop)
  rejectAsOperator(shop.db, referralOf(shop.db, order.id)?.id ?? 0, 'fraud', noon)
  expect(renewedReferral(shop, order)).toMatchObject({ status: 'rejected', rejectedFor: 'operator: fraud' })
})

it('a renewal of an order that the affiliate bought earns nothing, also if that became known later', () => {
  using shop = openTestShop()
  const order = referredOrder(shop)
  const own = write(shop.db, (tx) => recordBuyerEmail(tx, order.id, 'mira@shop.example', noon))
  expect(referralOf(shop.db, order.id)).toMatchObject({ status: 'rejected', rejectedFor: 'self' })
  expect(renewedReferral(shop, own)).toMatchObject({ status: 'rejected', rejectedFor: 'self' })
})

it('a renewal for the plus address of the affiliate waits for the operator', () => {
  using shop = openTestShop()
  const order = referredOrder(shop)
  const plus = write(shop.db, (tx) => recordBuyerEmail(tx, order.id, 'mira+club@shop.example', noon))
  expect(renewedReferral(shop, plus)).toMatchObject({ status: 'pending', review: ['plus_address'] })
})

it('a renewal earns nothing while the module is off', () => {
  using shop = openTestShop()
  const order = referredOrder(shop)
  switchModule(shop.db, 'affiliates', false, noon)
  expect(renewedReferral(shop, order)).toBeUndefined()
})
