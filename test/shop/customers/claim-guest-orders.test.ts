import { describe, expect, test } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { enrolments } from '../../../src/shop/benefits/schema.ts'
import { claimGuestOrders } from '../../../src/shop/customers/claim-guest-orders.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { listOrders } from '../../../src/shop/orders/view.ts'
import { draft, line, makeProduct, makeUser, move, place } from '../orders/support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

describe("a guest's orders", () => {
  const setup = () => {
    const db = emptyShop()
    const grants = [{ kind: 'course' as const, course: 'wick-trimming' }]
    const lines = [line(makeProduct(db), { type: 'digital', grants })]
    const paid = place(db, draft(lines, { email: 'Lena@Shop.example' }))
    const open = place(db, draft(lines, { email: 'lena@shop.example' }))
    const foreign = place(db, draft(lines, { email: 'other@shop.example' }))
    move(db, paid.id, 'completed')
    return { db, paid, open, foreign }
  }

  test('join an account with their email once it is verified, and give what the paid ones grant', () => {
    const { db, paid, open, foreign } = setup()
    const lena = makeUser(db, 'lena@shop.example')
    expect(db.orm.select().from(enrolments).all()).toEqual([])
    expect(write(db, (tx) => claimGuestOrders(tx, lena, noon))).toBe(2)
    expect(listOrders(db, lena.id, { page: 1, perPage: 20 }).orders.map((order) => order.id)).toEqual([
      open.id,
      paid.id
    ])
    expect(db.orm.select().from(enrolments).all()).toMatchObject([{ userId: lena.id, orderId: paid.id }])
    expect(getOrder(db, foreign.id).userId).toBeNull()
    expect(write(db, (tx) => claimGuestOrders(tx, lena, noon))).toBe(0)
  })

  test('stay where they are while the email is not verified', () => {
    const { db } = setup()
    const lena = makeUser(db, 'lena@shop.example', false)
    expect(write(db, (tx) => claimGuestOrders(tx, lena, noon))).toBe(0)
    expect(listOrders(db, lena.id, { page: 1, perPage: 20 }).pagination.total).toBe(0)
  })
})
