import { describe, expect, test } from 'vitest'
import { listOrders, newestOrders, orderSummary } from '../../../src/shop/orders/view.ts'
import { switchModule } from '../../../src/shop/settings/settings.ts'
import {
  credited,
  draft,
  force,
  line,
  makeAffiliate,
  makeProduct,
  makeUser,
  move,
  place,
  referralOf
} from './support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

describe("a customer's orders", () => {
  test('have exactly the fields of the interface, renewalOf, totals and the state of refunds', () => {
    const db = emptyShop()
    const lena = makeUser(db, 'lena@shop.example')
    const mira = makeAffiliate(db, makeUser(db, 'mira@shop.example').id)
    const lines = [
      line(makeProduct(db), { name: 'Storm lantern – red', quantity: 2, discountMinor: 251 }),
      line(makeProduct(db), { name: 'Lamp oil', unitPriceMinor: 399 })
    ]
    const attribution = { ...credited(mira, 'summer'), marketingUtmSource: 'news', marketingUtmContent: 'top' }
    const order = place(db, draft(lines, { userId: lena.id, attribution }))
    const visitId = referralOf(db, order.id)?.visitId
    expect(listOrders(db, lena.id, { page: 1, perPage: 20 })).toEqual({
      orders: [
        {
          id: order.id,
          status: 'pending',
          currency: 'EUR',
          total: 26.48,
          createdAt: '2026-06-01T12:00:00.000Z',
          updatedAt: '2026-06-01T12:00:00.000Z',
          renewalOf: null,
          buyerReference: null,
          addedTo: null,
          credited: 0,
          totals: { subtotal: 28.99, discount: 2.51, shipping: 0, tax: 0, taxIncluded: true, total: 26.48 },
          refundState: 'none',
          refundOwed: 0,
          lineItems: [
            { name: 'Storm lantern – red', quantity: 2, total: 22.49 },
            { name: 'Lamp oil', quantity: 1, total: 3.99 }
          ],
          affiliateRef: 'mira',
          affiliateCampaign: 'summer',
          affiliateReferralCreated: true,
          affiliateVisitId: visitId,
          affiliateReferralId: referralOf(db, order.id)?.id,
          affiliateVisitConverted: false,
          orderAttributionSourceType: 'referral',
          orderAttributionUtmSource: 'affiliate:mira',
          orderAttributionUtmMedium: 'affiliate',
          orderAttributionUtmCampaign: 'summer',
          orderAttributionUtmContent: `visit:${visitId}`,
          marketingUtmSource: 'news',
          marketingUtmMedium: null,
          marketingUtmCampaign: null,
          marketingUtmContent: 'top'
        }
      ],
      pagination: { page: 1, perPage: 20, total: 1, totalPages: 1 }
    })
  })

  test('say "" and null where there is no affiliate', () => {
    const db = emptyShop()
    const lena = makeUser(db, 'lena@shop.example')
    place(db, draft([line(makeProduct(db))], { userId: lena.id }))
    expect(listOrders(db, lena.id, { page: 1, perPage: 20 }).orders[0]).toMatchObject({
      affiliateRef: '',
      affiliateCampaign: '',
      affiliateReferralCreated: false,
      affiliateVisitId: null,
      affiliateReferralId: null,
      affiliateVisitConverted: null,
      orderAttributionSourceType: 'typein',
      orderAttributionUtmSource: null
    })
  })

  test('count amounts by the decimals of their currency', () => {
    const db = emptyShop()
    const lena = makeUser(db, 'lena@shop.example')
    for (const currency of ['JPY', 'KWD', 'ISK'])
      place(db, draft([line(makeProduct(db))], { userId: lena.id, currency }))
    const totals = listOrders(db, lena.id, { page: 1, perPage: 20 }).orders.map((order) => [
      order.currency,
      order.total
    ])
    expect(totals).toEqual([
      ['ISK', 12.5],
      ['KWD', 1.25],
      ['JPY', 1250]
    ])
  })

  test('have a converted visit exactly while they are processing or completed with an accepted referral', () => {
    const db = emptyShop()
    const lena = makeUser(db, 'lena@shop.example')
    const mira = makeAffiliate(db, makeUser(db, 'mira@shop.example').id)
    const { id } = place(db, draft([line(makeProduct(db))], { userId: lena.id, attribution: credited(mira) }))
    const converted = () => listOrders(db, lena.id, { page: 1, perPage: 20 }).orders[0]?.affiliateVisitConverted
    expect(converted()).toBe(false)
    move(db, id, 'processing')
    expect(converted()).toBe(true)
    move(db, id, 'completed')
    expect(converted()).toBe(true)
    move(db, id, 'on-hold')
    expect(converted()).toBe(false)
    move(db, id, 'refunded')
    expect(converted()).toBe(false)
    force(db, id, 'completed')
    expect(converted()).toBe(false)
  })
})

describe("the pages of a customer's orders", () => {
  test('come newest first, by time and then by id, and every page is stable under equal times', () => {
    const db = emptyShop()
    const lena = makeUser(db, 'lena@shop.example')
    const other = makeUser(db, 'other@shop.example')
    const productId = makeProduct(db)
    const at = (userId: number, time: number): number => place(db, draft([line(productId)], { userId }), time).id
    const early = at(lena.id, noon + 1)
    const same = Array.from({ length: 5 }, () => [at(lena.id, noon + 5), at(other.id, noon + 5)][0])
    const late = at(lena.id, noon + 9)
    const old = at(lena.id, noon - 9)
    const expected = [late, ...same.toReversed(), early, old]
    for (const perPage of [1, 2, 3, 8, 100]) {
      const pages = Array.from({ length: Math.ceil(8 / perPage) }, (_, index) => index + 1)
      const seen = pages.flatMap((page) => listOrders(db, lena.id, { page, perPage }).orders.map((order) => order.id))
      expect(seen).toEqual(expected)
    }
    expect(listOrders(db, lena.id, { page: 2, perPage: 3 }).pagination).toEqual({
      page: 2,
      perPage: 3,
      total: 8,
      totalPages: 3
    })
  })

  test('past the end are an empty page, and so they are for who has none', () => {
    const db = emptyShop()
    const lena = makeUser(db, 'lena@shop.example')
    expect(listOrders(db, lena.id, { page: 1, perPage: 20 })).toEqual({
      orders: [],
      pagination: { page: 1, perPage: 20, total: 0, totalPages: 0 }
    })
    place(db, draft([line(makeProduct(db))], { userId: lena.id }))
    expect(listOrders(db, lena.id, { page: 1_000_000, perPage: 100 })).toEqual({
      orders: [],
      pagination: { page: 1_000_000, perPage: 100, total: 1, totalPages: 1 }
    })
  })

  test('are an empty list while the commerce module is off', () => {
    const db = emptyShop()
    const lena = makeUser(db, 'lena@shop.example')
    place(db, draft([line(makeProduct(db))], { userId: lena.id }))
    switchModule(db, 'commerce', false, noon)
    expect(listOrders(db, lena.id, { page: 1, perPage: 20 })).toEqual({
      orders: [],
      pagination: { page: 1, perPage: 20, total: 0, totalPages: 0 }
    })
  })

  test('are found by indexes alone, without a sort', () => {
    const db = emptyShop()
    const plan = db.sqlite
      .prepare<[], { detail: string }>(
        'EXPLAIN QUERY PLAN SELECT id FROM orders WHERE user_id = 1 ORDER BY created_at DESC, id DESC LIMIT 20 OFFSET 4000'
      )
      .all()
    expect(plan.map((row) => row.detail)).toEqual(['SEARCH orders USING COVERING INDEX orders_by_user (user_id=?)'])
  })
})

test('the summary counts all orders, and contains the last one and whether one is completed', () => {
  const db = emptyShop()
  const lena = makeUser(db, 'lena@shop.example')
  const productId = makeProduct(db)
  expect(orderSummary(db, lena.id)).toEqual({ hasAnyCompletedOrder: false, totalOrders: 0, lastOrderAt: null })
  const ids = Array.from(
    { length: 22 },
    (_, index) => place(db, draft([line(productId)], { userId: lena.id }), noon + index).id
  )
  expect(orderSummary(db, lena.id)).toEqual({
    hasAnyCompletedOrder: false,
    totalOrders: 22,
    lastOrderAt: '2026-06-01T12:00:00.021Z'
  })
  move(db, ids[0] ?? 0, 'completed')
  expect(orderSummary(db, lena.id).hasAnyCompletedOrder).toBe(true)
  const newest = newestOrders(db, lena.id, 20)
  expect(newest).toHaveLength(20)
  expect(newest[0]).toEqual({
    id: ids.at(-1),
    status: 'pending',
    currency: 'EUR',
    total: 12.5,
    createdAt: '2026-06-01T12:00:00.021Z'
  })
})
