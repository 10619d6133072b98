import { describe, expect, test } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { anonymiseOrdersOf, recordBuyerEmail } from '../../../src/shop/orders/buyer.ts'
import { overdueOrders } from '../../../src/shop/orders/holds.ts'
import { explainOrder } from '../../../src/shop/orders/explain.ts'
import { couponsOf, findAttribution, getOrder } from '../../../src/shop/orders/find.ts'
import { confirmPayment, recordRefund } from '../../../src/shop/orders/transition.ts'
import {
  couponLine,
  credited,
  draft,
  line,
  makeAffiliate,
  makeCoupon,
  makeProduct,
  makeUser,
  move,
  place,
  referralOf,
  typein
} from './support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

test('the orders whose hold has ended are the pending ones, the longest overdue first', () => {
  const db = emptyShop()
  const productId = makeProduct(db, { stock: 9 })
  const at = (time: number): number => place(db, draft([line(productId)]), time).id
  const later = at(noon)
  const sooner = at(noon - 1)
  const paid = at(noon)
  at(noon + 1)
  move(db, paid, 'processing')
  expect(overdueOrders(db, noon + 60 * 60_000)).toEqual([sooner, later])
  move(db, later, 'cancelled')
  expect(overdueOrders(db, noon + 60 * 60_000)).toEqual([sooner])
})

test('the orders of an erased account, and of a guest with its email, keep their sums and nothing of the person', () => {
  const db = emptyShop()
  const lena = makeUser(db, 'lena@shop.example', false)
  const coupon = makeCoupon(db)
  const lines = [line(makeProduct(db))]
  const mine = draft(lines, {
    userId: lena.id,
    email: lena.email,
    notes: 'Ring at Hansen',
    shippingAddress: { city: 'Kiel' },
    coupons: [couponLine(coupon, { customerKey: 'email:lena@shop.example' })]
  })
  const order = place(db, mine)
  const asGuest = place(db, { ...mine, userId: null, email: 'LENA@shop.example' })
  const other = [couponLine(coupon, { customerKey: 'email:guest@shop.example' })]
  const foreign = place(db, draft(lines, { coupons: other }))
  write(db, (tx) => anonymiseOrdersOf(tx, lena))
  // Its payment page was still open, and the gateway knows who paid there.
  write(db, (tx) => recordBuyerEmail(tx, order.id, 'lena@shop.example', noon + 1))
  for (const erased of [order, asGuest]) {
    expect(getOrder(db, erased.id)).toEqual({
      ...erased,
      email: null,
      emailKey: null,
      contact: {},
      billingAddress: null,
      shippingAddress: null,
      notes: null
    })
  }
  expect(db.sqlite.prepare('SELECT customer_key FROM order_coupons ORDER BY order_id').pluck().all()).toEqual([
    `user:${lena.id}`,
    null,
    'email:guest@shop.example'
  ])
  expect(getOrder(db, foreign.id)).toEqual(foreign)
})

describe('the email of a guest that only the payment page finds out', () => {
  const setup = (email: string | null) => {
    const db = emptyShop()
    const mira = makeAffiliate(db, makeUser(db, 'mira@shop.example').id)
    const coupons = [couponLine(makeCoupon(db))]
    const { id } = place(db, draft([line(makeProduct(db))], { email, coupons, attribution: credited(mira) }))
    return { db, id }
  }

  test('is written down, for the coupon too, and only where none was known', () => {
    const { db, id } = setup(null)
    write(db, (tx) => recordBuyerEmail(tx, id, 'Lena@shop.example', noon + 1))
    write(db, (tx) => recordBuyerEmail(tx, id, 'other@shop.example', noon + 2))
    expect(getOrder(db, id)).toMatchObject({ email: 'Lena@shop.example', emailKey: 'lena@shop.example' })
    expect(couponsOf(db, id)[0]?.customerKey).toBe('email:lena@shop.example')
    expect(referralOf(db, id)?.status).toBe('pending')
  })

  test("rejects the referral for good and leaves the attribution when it is the affiliate's own", () => {
    const { db, id } = setup(null)
    write(db, (tx) => recordBuyerEmail(tx, id, 'MIRA@shop.example', noon + 1))
    move(db, id, 'failed')
    move(db, id, 'processing')
    expect(referralOf(db, id)).toMatchObject({ status: 'rejected', rejectedFor: 'self' })
    expect(findAttribution(db, id)).toMatchObject({ affiliateRef: 'mira', sourceType: 'referral' })
  })
})

describe("an operator's word that the money has arrived", () => {
  const confirm = (db: Db, id: number) =>
    write(db, (tx) => confirmPayment(tx, id, { by: 'operator', reason: 'seen' }, noon + 5))

  test('pays an order that waits or had been given up, and changes nothing on one that is paid', () => {
    const db = emptyShop()
    const lines = [line(makeProduct(db))]
    const before = ['pending', 'on-hold', 'failed', 'cancelled'] as const
    for (const status of before) {
      const { id } = place(db, draft(lines))
      move(db, id, status)
      expect(confirm(db, id)).toMatchObject({ status: 'processing', paidAt: noon + 5 })
      move(db, id, 'completed')
      expect(confirm(db, id).status).toBe('completed')
    }
  })

  test('settles what a late payment left on hold', () => {
    const db = emptyShop()
    const productId = makeProduct(db, { stock: 1 })
    const { id } = place(db, draft([line(productId)]))
    move(db, id, 'cancelled')
    place(db, draft([line(productId)]))
    expect(confirm(db, id).status).toBe('on-hold')
    expect(confirm(db, id).status).toBe('processing')
  })

  test('is refused for an order that was given up after it had been paid', () => {
    const db = emptyShop()
    for (const to of ['cancelled', 'refunded'] as const) {
      const { id } = place(db, draft([line(makeProduct(db))]))
      confirm(db, id)
      move(db, id, to)
      expect(() => confirm(db, id)).toThrow(`cannot go from ${to} to processing`)
    }
  })
})

describe('an explanation', () => {
  test('names each rule of a credited order, what it looked at and what came of it', () => {
    const db = emptyShop()
    const mira = makeAffiliate(db, makeUser(db, 'mira@shop.example').id)
    const attribution = { ...credited(mira, 'summer'), marketingUtmSource: 'news' }
    const { id } = place(db, draft([line(makeProduct(db))], { attribution }))
    move(db, id, 'processing')
    const { lines, attribution: steps, referral } = explainOrder(db, id)
    expect(steps.map((step) => step.rule)).toEqual([
      'ref',
      'source type',
      'order attribution',
      'marketing values',
      'visit'
    ])
    expect(steps[0]).toEqual({
      rule: 'ref',
      input: 'ref=mira',
      outcome: 'credited: the ref names an active affiliate other than the buyer'
    })
    expect(referral[0]).toMatchObject({
      rule: 'commission',
      input: '10% of €12.50, refunded €0.00',
      outcome: '€1.25 now'
    })
    expect(referral.at(-1)).toEqual({
      rule: 'visit converted',
      input: 'order processing, referral unpaid',
      outcome: 'true'
    })
    expect(lines.join('\n')).toContain('source=affiliate:mira medium=affiliate campaign=summer content=visit:')
    expect(lines.join('\n')).toContain('source=news, stored regardless of the attribution')
  })

  test('says that a commission counts the goods without their shipping, and a refund takes its share of both', () => {
    const db = emptyShop()
    const attribution = credited(makeAffiliate(db, makeUser(db, 'mira@shop.example').id))
    const shipping = {
      method: { id: 'parcel', name: 'Parcel', estimate: null, pickup: false },
      amountMinor: 750,
      renewalMinor: null
    }
    const { id, totalMinor } = place(db, draft([line(makeProduct(db))], { attribution, shipping }))
    expect(totalMinor).toBe(2000)
    move(db, id, 'processing')
    const commission = () => explainOrder(db, id).referral[0]
    expect(commission()).toMatchObject({
      input: '10% of the goods, €12.50, without shipping €7.50, refunded €0.00',
      outcome: '€1.25 now'
    })
    write(db, (tx) => recordRefund(tx, id, 1000, { by: 'test', reason: 'a test' }, noon + 2000))
    expect(commission()).toMatchObject({ outcome: '€0.62 now' })
  })

  test('says why a ref did not count and why there is no referral', () => {
    const db = emptyShop()
    const attribution = {
      ...typein,
      candidates: [{ by: 'link' as const, named: 'nobody', affiliateId: null, outcome: 'unknown' as const }]
    }
    const { id } = place(db, draft([line(makeProduct(db))], { attribution }))
    const { attribution: steps, referral } = explainOrder(db, id)
    expect(steps[0]?.outcome).toBe('ignored: no affiliate has this code or id')
    expect(steps[1]?.outcome).toBe('typein: no credited affiliate and no valid utm value')
    expect(referral).toEqual([{ rule: 'referral', input: 'no credited affiliate', outcome: 'none' }])
  })
})
