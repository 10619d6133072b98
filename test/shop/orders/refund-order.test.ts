import { expect, test } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { payOrder, recordRefund } from '../../../src/shop/orders/transition.ts'
import type { OrderRow } from '../../../src/shop/orders/find.ts'
import { events } from '../../../src/shop/events/schema.ts'
import {
  credited,
  draft,
  line,
  mailsOf,
  makeAffiliate,
  makeProduct,
  makeUser,
  move,
  place,
  referralOf,
  stockOf
} from './support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

function paidOrder(): { db: Db; productId: number; order: OrderRow } {
  const db = emptyShop()
  const mira = makeAffiliate(db, makeUser(db, 'mira@shop.example').id)
  const productId = makeProduct(db, { stock: 5 })
  const { id } = place(db, draft([line(productId, { quantity: 2 })], { attribution: credited(mira) }))
  return { db, productId, order: write(db, (tx) => payOrder(tx, id, { by: 'gateway', reason: 'paid' }, noon + 1)) }
}

function refund(db: Db, orderId: number, amountMinor: number): OrderRow {
  return write(db, (tx) => recordRefund(tx, orderId, amountMinor, { by: 'operator', reason: 'scratched' }, noon + 2))
}

function refundEvents(db: Db): unknown[] {
  return db.orm
    .select()
    .from(events)
    .all()
    .filter((event) => event.type === 'order.refunded')
    .map((event) => event.payload)
}

function codeOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
  return 'done'
}

test('a partial refund leaves the order where it is and takes back its share of the commission', () => {
  const { db, productId, order } = paidOrder()
  expect(refund(db, order.id, 1000)).toMatchObject({ status: 'processing', refundedMinor: 1000, updatedAt: noon + 2 })
  expect(stockOf(db, productId)).toBe(3)
  expect(referralOf(db, order.id)).toMatchObject({ status: 'unpaid', amountMinor: 150 })
  expect(refundEvents(db)).toEqual([
    { orderId: order.id, amountMinor: 1000, currency: 'EUR', full: false, way: 'payment', lines: [], shippingMinor: 0 }
  ])
  expect(mailsOf(db).at(-1)).toEqual({
    template: 'order_refunded',
    recipient: 'guest@shop.example',
    data: { orderId: order.id, amountMinor: 1000 }
  })
})

test('the last part moves the order to refunded with all consequences, and reports only the rest', () => {
  const { db, productId, order } = paidOrder()
  refund(db, order.id, 1000)
  expect(refund(db, order.id, 1500)).toMatchObject({ status: 'refunded', refundedMinor: 2500 })
  expect(stockOf(db, productId)).toBe(5)
  expect(referralOf(db, order.id)?.status).toBe('rejected')
  expect(refundEvents(db)).toEqual([
    { orderId: order.id, amountMinor: 1000, currency: 'EUR', full: false, way: 'payment', lines: [], shippingMinor: 0 },
    { orderId: order.id, amountMinor: 1500, currency: 'EUR', full: true, way: 'payment', lines: [], shippingMinor: 0 }
  ])
  expect(codeOf(() => refund(db, order.id, 1))).toBe('TRANSITION_REFUSED')
})

test('a move to refunded counts as a refund of all that is left', () => {
  const { db, order } = paidOrder()
  refund(db, order.id, 1000)
  expect(move(db, order.id, 'refunded').refundedMinor).toBe(2500)
  move(db, order.id, 'refunded')
  expect(refundEvents(db)).toHaveLength(2)
})

test('a refund of zero, of more than was paid, or of an unpaid order is refused', () => {
  const { db, order } = paidOrder()
  for (const amount of [0, -1, 2501, 0.5, Number.NaN]) {
    expect(codeOf(() => refund(db, order.id, amount))).toBe('VALIDATION_FAILED')
  }
  const unpaid = place(db, draft([line(1)]))
  expect(codeOf(() => refund(db, unpaid.id, 100))).toBe('TRANSITION_REFUSED')
  expect(codeOf(() => refund(db, 999, 100))).toBe('NOT_FOUND')
})

test('an order that was cancelled after it was paid gets its money back and stays cancelled', () => {
  const { db, order } = paidOrder()
  move(db, order.id, 'cancelled')
  expect(refund(db, order.id, 2500)).toMatchObject({ status: 'cancelled', refundedMinor: 2500 })
  expect(refundEvents(db)).toEqual([
    { orderId: order.id, amountMinor: 2500, currency: 'EUR', full: true, way: 'payment', lines: [], shippingMinor: 0 }
  ])
})
