import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { expect, test } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import {
  findBuyer,
  isEmailOfOrder,
  listAllOrders,
  listOrdersOfPerson,
  showOrder
} from '../../../src/shop/customers/admin-orders.ts'
import { getOrder, countGuestOrders } from '../../../src/shop/orders/find.ts'
import { listOrders } from '../../../src/shop/orders/view.ts'
import { createAttempt, updateAttempt } from '../../../src/shop/payments/attempts.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'
import { couponLine, draft, line, makeCoupon, makeProduct, makeUser, move, place } from '../orders/support.ts'

const email = 'lena@shop.example'
const lena = { id: 7, emailKey: email, emailVerifiedAt: 1 }

const looks: [string, (db: Db) => unknown][] = [
  ['an account', (db) => listAllOrders(db, { userId: 7, limit: 20 })],
  ['an account and a state', (db) => listAllOrders(db, { userId: 7, status: 'completed', limit: 20 })],
  ['an email', (db) => listAllOrders(db, { emailKey: email, limit: 20 })],
  ['an email and a state', (db) => listAllOrders(db, { emailKey: email, status: 'completed', limit: 20 })],
  ['both and a state', (db) => listAllOrders(db, { userId: 7, emailKey: email, status: 'failed', limit: 20 })],
  ['whether there is one', (db) => isEmailOfOrder(db, email)],
  ['a person', (db) => listOrdersOfPerson(db, lena)],
  ['guests with an email', (db) => countGuestOrders(db, email)]
]

test.each(looks)("a look for the orders of %s reads that person's alone", (_name, look) => {
  const { file } = emptyShop()
  const said: string[] = []
  const sqlite = new Database(file, { verbose: (source) => said.push(String(source)) })
  try {
    look({ sqlite, orm: drizzle(sqlite) })
    expect(said).toHaveLength(1)
    const steps = sqlite.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${said[0]}`).all()
    const reads = steps.map(({ detail }) => detail).filter((detail) => / orders\b/.test(detail))
    expect(reads).not.toEqual([])
    for (const detail of reads) {
      expect(detail).toMatch(/^SEARCH orders USING .*INDEX orders_by_(user|email) \((user_id|email_key)=\?/)
    }
  } finally {
    sqlite.close()
  }
})

test('the operator sees the order as the buyer does, and email, address, discount, refunds, coupons, payment and history', () => {
  const db = emptyShop()
  const lena = makeUser(db, 'lena@shop.example')
  const coupon = couponLine(makeCoupon(db), { discountMinor: 250 })
  const lines = [line(makeProduct(db), { quantity: 2, discountMinor: 250 })]
  const { id } = place(db, draft(lines, { userId: lena.id, email: lena.email, coupons: [coupon] }))
  move(db, id, 'processing')
  const [view] = listOrders(db, lena.id, { page: 1, perPage: 1 }).orders
  write(db, (tx) => {
    const how = { gateway: 'none', kind: 'none', livemode: false } as const
    const { id: attemptId } = createAttempt(tx, getOrder(tx, id), how, noon)
    updateAttempt(tx, attemptId, { gatewayStatus: 'succeeded' }, noon)
  })
  const shown = showOrder(db, id)
  const listed = {
    ...view,
    email: 'lena@shop.example',
    discount: 2.5,
    refunded: 0,
    coupons: [{ code: 'WELCOME10', discount: 2.5 }],
    paymentStatus: 'succeeded',
    paidAt: '2026-06-01T12:00:01.000Z',
    deliveryConsentAt: null,
    paidBy: 'by_hand'
  }
  expect(shown.order).toEqual({
    ...listed,
    shipments: [],
    changes: [],
    refunds: [],
    returns: [],
    shopNotes: [],
    additions: [],
    contact: { firstName: 'Lena', phone: '+49 30 555 0100' },
    billingAddress: { city: 'Berlin', country: 'DE' },
    shippingAddress: null,
    notes: null,
    vatId: null,
    vatCheck: null,
    evidence: { billingCountry: 'DE', cardCountry: null, ipCountry: null },
    imported: null
  })
  expect(shown.history).toEqual([
    { from: null, to: 'pending', at: '2026-06-01T12:00:00.000Z', by: 'checkout', reason: 'created' },
    { from: 'pending', to: 'processing', at: '2026-06-01T12:00:01.000Z', by: 'test', reason: 'a test' }
  ])
  place(db, draft(lines))
  expect(listAllOrders(db, { limit: 10 }).orders.map((order) => order.id)).toEqual([id + 1, id])
  expect(listAllOrders(db, { limit: 10, userId: lena.id })).toEqual({ orders: [listed], nextCursor: null })
  expect(listAllOrders(db, { limit: 10, status: 'pending' }).orders.map((order) => order.id)).toEqual([id + 1])
  expect(listAllOrders(db, { limit: 1 }).orders).toHaveLength(1)
})

test('a buyer is found by account id or email, and a guest by the email of an order', () => {
  const db = emptyShop()
  const { id: userId } = makeUser(db, 'lena@shop.example')
  place(db, draft([line(makeProduct(db))], { email: 'guest@shop.example' }))
  expect(findBuyer(db, String(userId))).toEqual({ userId })
  expect(findBuyer(db, 'LENA@shop.example')).toEqual({ userId, emailKey: 'lena@shop.example' })
  expect(findBuyer(db, 'Guest@shop.example')).toEqual({ userId: undefined, emailKey: 'guest@shop.example' })
  expect(() => findBuyer(db, 'nobody@shop.example')).toThrow('no account and no order')
})
