import { describe, expect, test } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { enrolments } from '../../../src/shop/benefits/schema.ts'
import { claimGuestOrders } from '../../../src/shop/customers/claim-guest-orders.ts'
import { claimOrder } from '../../../src/shop/customers/claim-order.ts'
import { getUserById } from '../../../src/shop/accounts/find.ts'
import { claimToken } from '../../../src/shop/orders/order-links.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { listOrders } from '../../../src/shop/orders/view.ts'
import { draft, line, makeProduct, makeUser, move, place } from '../orders/support.ts'
import { openTestShop } from '../../support/shop-context.ts'
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

describe('the link of a paid guest order', () => {
  test('leaves the password of an account whose email is verified while the new one is hashed', async () => {
    using shop = openTestShop()
    const { db, keys } = shop
    const grants = [{ kind: 'course' as const, course: 'wick-trimming' }]
    const order = place(
      db,
      draft([line(makeProduct(db), { type: 'digital', grants })], { email: 'lena@shop.example' }),
      shop.clock.now()
    )
    move(db, order.id, 'completed')
    const lena = makeUser(db, 'lena@shop.example', false)
    const token = claimToken(keys, getOrder(db, order.id), shop.clock.now())
    const claim = { token, password: 'granite-willow-71' }
    const hash = (password: string): Promise<string> => {
      db.sqlite.prepare('UPDATE users SET email_verified_at = 1 WHERE id = ?').run(lena.id)
      return shop.passwords.hash(password)
    }
    const passwords = { ...shop.passwords, hash }
    const claiming = claimOrder({ ...shop, passwords }, claim, { addressKey: '192.0.2.7' }, shop.clock.now())
    await expect(claiming).rejects.toMatchObject({ code: 'TOKEN_INVALID' })
    expect(getUserById(db, lena.id).passwordHash).toBe(lena.passwordHash)
    // The link is still valid, and adds the order to the account without a password.
    await claimOrder(shop, claim, { addressKey: '192.0.2.7' }, shop.clock.now())
    expect(getOrder(db, order.id).userId).toBe(lena.id)
    expect(getUserById(db, lena.id).passwordHash).toBe(lena.passwordHash)
  })
})
