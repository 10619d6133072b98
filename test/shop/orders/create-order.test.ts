import { describe, expect, test } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { write } from '../../../src/platform/db/database.ts'
import { couponsOf, findAttribution, getOrderByPublicToken, historyOf, itemsOf } from '../../../src/shop/orders/find.ts'
import { insertRenewal } from '../../../src/shop/orders/renewal-order.ts'
import {
  couponLine,
  credited,
  draft,
  eventsOf,
  line,
  makeAffiliate,
  makeCoupon,
  makeProduct,
  makeUser,
  makeVariation,
  place,
  referralOf,
  stockOf,
  stockTakenOf,
  typein,
  usedOf
} from './support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

function fieldErrorsOf(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError && error.code === 'VALIDATION_FAILED') return error.details['fieldErrors']
    throw error
  }
  throw new Error('Nothing was refused.')
}

describe('a new order', () => {
  test('is pending, with the sums of its lines, a hold, its first audit row and its event', () => {
    const db = emptyShop()
    const productId = makeProduct(db, { stock: 5 })
    const lines = [
      line(productId, { quantity: 3, discountMinor: 100 }),
      line(productId, { path: 'items.1', name: 'Oil', unitPriceMinor: 399, type: 'digital' })
    ]
    const order = place(db, draft(lines, { email: ' Guest@Shop.example', notes: 'Ring twice' }))
    expect(order).toMatchObject({
      userId: null,
      email: ' Guest@Shop.example',
      emailKey: 'guest@shop.example',
      status: 'pending',
      currency: 'EUR',
      subtotalMinor: 3 * 1250 + 399,
      discountMinor: 100,
      totalMinor: 3 * 1250 + 399 - 100,
      refundedMinor: 0,
      contact: { firstName: 'Lena', phone: '+49 30 555 0100' },
      billingAddress: { city: 'Berlin', country: 'DE' },
      shippingAddress: null,
      notes: 'Ring twice',
      holdEndsAt: noon + 60 * 60_000,
      paidAt: null,
      createdAt: noon,
      updatedAt: noon
    })
    expect(getOrderByPublicToken(db, order.publicToken)).toEqual(order)
    expect(itemsOf(db, order.id).map((item) => [item.name, item.totalMinor, item.stockTaken])).toEqual([
      ['Storm lantern', 3650, 3],
      ['Oil', 399, 1]
    ])
    expect(stockOf(db, productId)).toBe(1)
    expect(historyOf(db, order.id)).toMatchObject([{ from: null, to: 'pending', by: 'checkout', at: noon }])
    expect(eventsOf(db)).toEqual(['order.created'])
  })

  test('stores an address that was not given as SQL NULL', () => {
    const db = emptyShop()
    place(db, draft([line(makeProduct(db))], { billingAddress: null }))
    expect(db.sqlite.prepare('SELECT billing_address FROM orders').pluck().get()).toBeNull()
  })

  test('takes from the variation that counts its own stock, and from the product where it does not', () => {
    const db = emptyShop()
    const own = makeProduct(db, { stock: 7 })
    const shared = makeProduct(db, { stock: 7 })
    const counted = makeVariation(db, own, 2)
    const uncounted = makeVariation(db, shared, null)
    const order = place(db, draft([line(own, { variationId: counted }), line(shared, { variationId: uncounted })]))
    expect(stockTakenOf(db, order.id)).toEqual([1, 1])
    expect([stockOf(db, own), stockOf(db, shared)]).toEqual([7, 6])
  })

  test('is refused on the path of each line and coupon that is gone, and takes nothing', () => {
    const db = emptyShop()
    const scarce = makeProduct(db, { stock: 1 })
    const plenty = makeProduct(db, { stock: 9 })
    const once = makeCoupon(db, { maxUses: 1, used: 1 })
    const lines = [line(plenty), line(scarce, { path: 'items.2', quantity: 2 })]
    const refused = fieldErrorsOf(() =>
      place(db, draft(lines, { coupons: [couponLine(once, { path: 'couponCodes.1' })] }))
    )
    expect(refused).toEqual({
      'items.2.quantity': ['There is not enough of this in stock.'],
      'couponCodes.1': ['This code has reached its usage limit.']
    })
    expect([stockOf(db, scarce), stockOf(db, plenty)]).toEqual([1, 9])
    expect(db.sqlite.prepare('SELECT count(*) FROM orders').pluck().get()).toBe(0)
  })
})

describe('a coupon with a limit per customer', () => {
  test('is refused on its own path once this account or this guest has used it', () => {
    const db = emptyShop()
    const lena = makeUser(db, 'lena@shop.example')
    const coupon = makeCoupon(db, { maxUsesPerCustomer: 2 })
    const lines = [line(makeProduct(db))]
    const asGuest = {
      email: 'Lena@shop.example',
      coupons: [couponLine(coupon, { customerKey: 'email:lena@shop.example' })]
    }
    const asUser = {
      userId: lena.id,
      email: lena.email,
      coupons: [couponLine(coupon, { customerKey: `user:${lena.id}` })]
    }
    for (const buyer of [asGuest, asUser, asGuest]) place(db, draft(lines, buyer))
    for (const buyer of [asGuest, asUser])
      expect(fieldErrorsOf(() => place(db, draft(lines, buyer)))).toEqual({
        couponCode: ['You have already used this code the maximum number of times.']
      })
    place(
      db,
      draft(lines, {
        email: 'other@shop.example',
        coupons: [couponLine(coupon, { customerKey: 'email:other@shop.example' })]
      })
    )
    expect(usedOf(db, coupon)).toBe(4)
    expect(couponsOf(db, 1)).toMatchObject([{ code: 'WELCOME10', counted: 1 }])
  })
})

describe('attribution', () => {
  test('of a credited affiliate has a visit, a pending referral and the visit as its content', () => {
    const db = emptyShop()
    const mira = makeAffiliate(db, makeUser(db, 'mira@shop.example').id)
    const marketing = {
      marketingUtmSource: 'news',
      marketingUtmMedium: 'email',
      marketingUtmCampaign: null,
      marketingUtmContent: 'top'
    }
    const order = place(
      db,
      draft([line(makeProduct(db))], { attribution: { ...credited(mira, 'summer'), ...marketing } })
    )
    const stamped = findAttribution(db, order.id)
    expect(stamped).toMatchObject({
      affiliateId: mira.id,
      affiliateRef: 'mira',
      affiliateCampaign: 'summer',
      sourceType: 'referral',
      utmSource: 'affiliate:mira',
      utmMedium: 'affiliate',
      utmCampaign: 'summer',
      utmContent: `visit:${stamped?.visitId}`,
      ...marketing
    })
    expect(referralOf(db, order.id)).toMatchObject({ status: 'pending', visitId: stamped?.visitId, amountMinor: 125 })
  })

  test('of an order that costs nothing has its visit and no referral', () => {
    const db = emptyShop()
    const mira = makeAffiliate(db, makeUser(db, 'mira@shop.example').id)
    const free = line(makeProduct(db), { discountMinor: 1250 })
    const order = place(db, draft([free], { attribution: credited(mira) }))
    expect(findAttribution(db, order.id)?.visitId).toEqual(expect.any(Number))
    expect(referralOf(db, order.id)).toBeUndefined()
  })

  test('without an affiliate has neither', () => {
    const db = emptyShop()
    const utm = { ...typein, sourceType: 'utm' as const, utmSource: 'news', marketingUtmSource: 'news' }
    const order = place(db, draft([line(makeProduct(db))], { attribution: utm }))
    expect(findAttribution(db, order.id)).toMatchObject({
      affiliateId: null,
      visitId: null,
      affiliateRef: '',
      affiliateCampaign: '',
      sourceType: 'utm',
      utmSource: 'news',
      utmContent: null
    })
    expect(referralOf(db, order.id)).toBeUndefined()
  })
})

test('the renewal of a subscription that is shipped has the shipping of the first order again', () => {
  const db = emptyShop()
  const goods = line(makeProduct(db), { grants: [{ kind: 'subscription', interval: 'month', pro: false }] })
  const shipping = {
    method: { id: 'parcel', name: 'Parcel', estimate: null, pickup: false },
    amountMinor: 490,
    renewalMinor: 490
  }
  const original = place(db, draft([goods, line(makeProduct(db, { slug: 'mug' }))], { shipping }))
  const payment = { amountMinor: 1250 + 490, currency: 'EUR', by: 'gateway' }
  const renewal = write(db, (tx) => insertRenewal(tx, original, payment, noon))
  expect(renewal).toMatchObject({ subtotalMinor: 1250, shippingMinor: 490, totalMinor: 1740 })
  expect(renewal.shippingMethod).toEqual(shipping.method)
  const digital = place(db, draft([{ ...goods, type: 'digital' }]))
  const other = write(db, (tx) => insertRenewal(tx, digital, { ...payment, amountMinor: 1250 }, noon))
  expect(other).toMatchObject({ shippingMinor: 0, shippingMethod: null, totalMinor: 1250 })
})
