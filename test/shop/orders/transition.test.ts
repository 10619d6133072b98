import { describe, expect, test } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { memberships, plans } from '../../../src/shop/benefits/schema.ts'
import { getOrder, historyOf } from '../../../src/shop/orders/find.ts'
import { payOrder } from '../../../src/shop/orders/transition.ts'
import type { OrderRow } from '../../../src/shop/orders/find.ts'
import type { OrderStatus } from '../../../src/shop/orders/states.ts'
import { mayMove, orderStatuses } from '../../../src/shop/orders/states.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import {
  couponLine,
  credited,
  draft,
  eventsOf,
  force,
  line,
  mailsOf,
  makeAffiliate,
  makeCoupon,
  makeProduct,
  makeUser,
  move,
  place,
  referralOf,
  stockOf,
  stockTakenOf,
  usedOf
} from './support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

type Setup = { db: Db; productId: number; couponId: number; order: OrderRow }

/** A customer's order of two of ten lanterns with a coupon, a membership and an affiliate. */
function setup(): Setup {
  const db = emptyShop()
  const buyer = makeUser(db, 'lena@shop.example')
  const affiliate = makeAffiliate(db, makeUser(db, 'mira@shop.example').id)
  db.orm.insert(plans).values({ slug: 'friends', name: 'Friends', module: 'A', rank: 1, isPro: false }).run()
  const productId = makeProduct(db, { stock: 10 })
  const couponId = makeCoupon(db, { maxUses: 3 })
  const grants = [{ kind: 'membership' as const, module: 'A' as const, plan: 'friends', period: 'P1Y' }]
  const lines = [line(productId, { quantity: 2, discountMinor: 250, grants })]
  const order = place(
    db,
    draft(lines, {
      userId: buyer.id,
      email: buyer.email,
      coupons: [couponLine(couponId, { discountMinor: 250, customerKey: `user:${buyer.id}` })],
      attribution: credited(affiliate, 'summer')
    })
  )
  return { db, productId, couponId, order }
}

/** Memberships that have not been taken back. */
function liveMemberships(db: Db): number {
  return db.orm
    .select()
    .from(memberships)
    .all()
    .filter((row) => row.cancelledAt === null).length
}

function pay(db: Db, orderId: number, latePayment = false): OrderRow {
  return write(db, (tx) => payOrder(tx, orderId, { by: 'gateway', reason: 'paid', latePayment }, noon + 5000))
}

function catchRefusal(act: () => unknown): AppError | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function refusalOf(act: () => unknown): AppError {
  const refusal = catchRefusal(act)
  if (refusal === undefined) throw new Error('Nothing was refused.')
  return refusal
}

describe('every pair of states', () => {
  for (const from of orderStatuses) {
    for (const latePayment of [false, true]) {
      const how = latePayment ? ' by a late payment' : ''
      test(`an order that is ${from} moves where the table says and nowhere else${how}`, () => {
        const db = emptyShop()
        const productId = makeProduct(db)
        const outcomeOf = (to: OrderStatus): unknown => {
          const { id } = place(db, draft([line(productId)]))
          force(db, id, from)
          const refusal = catchRefusal(() => move(db, id, to, { latePayment }))
          const audit = historyOf(db, id)
            .slice(1)
            .map((row) => [row.from, row.to, row.by, row.reason, row.at])
          return { to, status: getOrder(db, id).status, audit, refusal: refusal && [refusal.code, refusal.details] }
        }
        const expectedOf = (to: OrderStatus): unknown => {
          const moves = from !== to && mayMove(from, to, latePayment)
          const refused = from !== to && !moves
          return {
            to,
            status: moves ? to : from,
            audit: moves ? [[from, to, 'test', 'a test', noon + 1000]] : [],
            refusal: refused ? ['TRANSITION_REFUSED', { from, to }] : undefined
          }
        }
        expect(orderStatuses.map(outcomeOf)).toEqual(orderStatuses.map(expectedOf))
      })
    }
  }

  test('a refusal names both states', () => {
    const db = emptyShop()
    const { id } = place(db, draft([line(makeProduct(db))]))
    move(db, id, 'processing')
    expect(refusalOf(() => move(db, id, 'failed')).message).toBe(`Order ${id} cannot go from processing to failed.`)
  })
})

describe('an order that is paid', () => {
  test('keeps its stock and coupon use, gives its grants, has its referral accepted and its receipt queued', () => {
    const { db, productId, couponId, order } = setup()
    const paid = pay(db, order.id)
    expect(paid).toMatchObject({ status: 'processing', paidAt: noon + 5000, updatedAt: noon + 5000 })
    expect(stockOf(db, productId)).toBe(8)
    expect(usedOf(db, couponId)).toBe(1)
    expect(liveMemberships(db)).toBe(1)
    expect(referralOf(db, order.id)).toMatchObject({ status: 'unpaid', amountMinor: 225 })
    expect(mailsOf(db)).toEqual([
      { template: 'order_receipt', recipient: 'lena@shop.example', data: { orderId: order.id } }
    ])
    expect(eventsOf(db)).toEqual(['order.created', 'pending to processing', 'order.paid'])
  })

  test('has each consequence once however often it is reported', () => {
    const { db, productId, couponId, order } = setup()
    for (let times = 0; times < 3; times += 1) pay(db, order.id)
    pay(db, order.id, true)
    move(db, order.id, 'processing')
    move(db, order.id, 'completed')
    move(db, order.id, 'completed')
    pay(db, order.id)
    expect(historyOf(db, order.id).map((row) => row.to)).toEqual(['pending', 'processing', 'completed'])
    expect(stockOf(db, productId)).toBe(8)
    expect(usedOf(db, couponId)).toBe(1)
    expect(liveMemberships(db)).toBe(1)
    expect(mailsOf(db)).toHaveLength(1)
    expect(eventsOf(db)).toEqual(['order.created', 'pending to processing', 'order.paid', 'processing to completed'])
    expect(eventsOf(db, 'referral.')).toEqual(['referral.created', 'referral.accepted'])
  })

  test('leaves its referral pending when acceptance is by hand', () => {
    const { db, order } = setup()
    setSetting(db, 'affiliates.autoAccept', 'false', noon)
    pay(db, order.id)
    expect(referralOf(db, order.id)?.status).toBe('pending')
  })

  test('is completed when there is nothing to ship, and a guest without an email is sent nothing', () => {
    const db = emptyShop()
    const order = place(db, draft([line(makeProduct(db), { type: 'digital' })], { email: null }))
    expect(pay(db, order.id).status).toBe('completed')
    expect(mailsOf(db)).toEqual([])
  })

  test('keeps everything while a dispute holds it, and gets nothing twice when it is won', () => {
    const { db, productId, order } = setup()
    pay(db, order.id)
    move(db, order.id, 'on-hold', { reason: 'disputed' })
    expect(stockOf(db, productId)).toBe(8)
    expect(liveMemberships(db)).toBe(1)
    expect(referralOf(db, order.id)?.status).toBe('unpaid')
    expect(pay(db, order.id).status).toBe('on-hold')
    move(db, order.id, 'processing', { reason: 'dispute won' })
    expect(stockOf(db, productId)).toBe(8)
    expect(liveMemberships(db)).toBe(1)
    expect(mailsOf(db)).toHaveLength(1)
    expect(eventsOf(db).filter((event) => event === 'order.paid')).toHaveLength(1)
  })
})

describe('an order that is off', () => {
  for (const to of ['failed', 'cancelled'] as const) {
    test(`gives back stock and coupon use once when it is ${to}, and its referral is rejected`, () => {
      const { db, productId, couponId, order } = setup()
      move(db, order.id, to)
      move(db, order.id, to)
      if (to === 'failed') move(db, order.id, 'cancelled')
      expect(stockOf(db, productId)).toBe(10)
      expect(stockTakenOf(db, order.id)).toEqual([0])
      expect(usedOf(db, couponId)).toBe(0)
      expect(referralOf(db, order.id)?.status).toBe('rejected')
      expect(eventsOf(db, 'referral.')).toEqual(['referral.created', 'referral.rejected'])
    })
  }

  test('takes its grants back when it was paid before', () => {
    const { db, productId, order } = setup()
    pay(db, order.id)
    move(db, order.id, 'cancelled')
    expect(liveMemberships(db)).toBe(0)
    expect(stockOf(db, productId)).toBe(10)
    expect(referralOf(db, order.id)?.status).toBe('rejected')
  })

  test('puts nothing back for a product whose stock was not counted when it was sold', () => {
    const db = emptyShop()
    const productId = makeProduct(db)
    const order = place(db, draft([line(productId)]))
    expect(stockTakenOf(db, order.id)).toEqual([0])
    db.sqlite.prepare('UPDATE products SET stock = 5').run()
    move(db, order.id, 'cancelled')
    expect(stockOf(db, productId)).toBe(5)
  })
})

describe('a new attempt at a failed order', () => {
  test('takes stock and coupon again, holds them anew and brings the referral back', () => {
    const { db, productId, couponId, order } = setup()
    move(db, order.id, 'failed')
    const again = move(db, order.id, 'pending', {}, noon + 9000)
    expect(again).toMatchObject({ status: 'pending', holdEndsAt: noon + 9000 + 30 * 60_000 })
    expect(stockOf(db, productId)).toBe(8)
    expect(usedOf(db, couponId)).toBe(1)
    expect(referralOf(db, order.id)?.status).toBe('pending')
  })

  test('is refused when stock or coupon is gone, and takes nothing then', () => {
    const { db, productId, couponId, order } = setup()
    move(db, order.id, 'failed')
    db.sqlite.prepare('UPDATE coupons SET used = max_uses').run()
    const refusal = refusalOf(() =>
      write(db, (tx) => {
        // Caught inside the transaction, so nothing rolls back what the attempt has taken but the refusal itself.
        expect(refusalOf(() => move(tx, order.id, 'pending')).code).toBe('TRANSITION_REFUSED')
        return move(tx, order.id, 'pending')
      })
    )
    expect(refusal.details).toEqual({ from: 'failed', to: 'pending', gone: ['coupon WELCOME10 is used up'] })
    expect(stockOf(db, productId)).toBe(10)
    expect(usedOf(db, couponId)).toBe(3)
    expect(getOrder(db, order.id).status).toBe('failed')
  })

  test('is refused when the customer has used the coupon elsewhere meanwhile', () => {
    const { db, couponId, order } = setup()
    db.sqlite.prepare('UPDATE coupons SET max_uses_per_customer = 1').run()
    move(db, order.id, 'failed')
    const customerKey = `user:${order.userId}`
    place(db, draft([line(1)], { userId: order.userId, coupons: [couponLine(couponId, { customerKey })] }))
    expect(refusalOf(() => move(db, order.id, 'pending')).code).toBe('TRANSITION_REFUSED')
    expect(usedOf(db, couponId)).toBe(1)
  })
})

describe('a payment that arrives late', () => {
  test('brings a cancelled order back with its stock, coupon, grants and referral', () => {
    const { db, productId, couponId, order } = setup()
    move(db, order.id, 'cancelled')
    expect(refusalOf(() => pay(db, order.id)).code).toBe('TRANSITION_REFUSED')
    expect(pay(db, order.id, true).status).toBe('processing')
    expect(stockOf(db, productId)).toBe(8)
    expect(usedOf(db, couponId)).toBe(1)
    expect(liveMemberships(db)).toBe(1)
    expect(referralOf(db, order.id)).toMatchObject({ status: 'unpaid', amountMinor: 225 })
    expect(mailsOf(db)).toHaveLength(1)
  })

  for (const from of ['failed', 'cancelled'] as const) {
    test(`puts a ${from} order whose stock is gone on hold, which no second report lifts`, () => {
      const { db, productId, couponId, order } = setup()
      move(db, order.id, from)
      db.sqlite.prepare('UPDATE products SET stock = 1').run()
      const held = pay(db, order.id, true)
      expect(held).toMatchObject({ status: 'on-hold', paidAt: noon + 5000 })
      expect(historyOf(db, order.id).at(-1)?.reason).toBe('paid; "Storm lantern" is out of stock')
      expect(stockOf(db, productId)).toBe(1)
      expect(usedOf(db, couponId)).toBe(1)
      expect(liveMemberships(db)).toBe(0)
      expect(mailsOf(db).map(({ template, data }) => ({ template, data }))).toEqual([
        ...(from === 'failed' ? [{ template: 'payment_failed', data: { orderId: order.id, moveId: 2 } }] : []),
        { template: 'order_received', data: { orderId: order.id, waitsFor: 'shop' } }
      ])
      expect(eventsOf(db)).toContain('order.paid')
      expect(pay(db, order.id, true).status).toBe('on-hold')
      expect(pay(db, order.id).status).toBe('on-hold')
    })
  }

  test('leaves the operator to complete without the stock, or to refund', () => {
    const { db, productId, couponId, order } = setup()
    move(db, order.id, 'cancelled')
    db.sqlite.prepare('UPDATE products SET stock = 1').run()
    pay(db, order.id, true)
    expect(move(db, order.id, 'processing').status).toBe('processing')
    expect(stockOf(db, productId)).toBe(1)
    expect(stockTakenOf(db, order.id)).toEqual([0])
    expect(liveMemberships(db)).toBe(1)
    expect(referralOf(db, order.id)?.status).toBe('unpaid')
    move(db, order.id, 'refunded')
    expect(stockOf(db, productId)).toBe(1)
    expect(usedOf(db, couponId)).toBe(0)
  })

  test('takes the stock that has come in again by the time the operator completes', () => {
    const { db, productId, order } = setup()
    move(db, order.id, 'cancelled')
    db.sqlite.prepare('UPDATE products SET stock = 0').run()
    pay(db, order.id, true)
    db.sqlite.prepare('UPDATE products SET stock = 6').run()
    move(db, order.id, 'processing')
    expect(stockOf(db, productId)).toBe(4)
    expect(stockTakenOf(db, order.id)).toEqual([2])
  })
})
