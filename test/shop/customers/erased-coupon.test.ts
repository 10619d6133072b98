import { expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { erasePerson } from '../../../src/shop/customers/erase-person.ts'
import { confirmEmail } from '../../../src/shop/customers/verify-email.ts'
import { anonymiseOrders } from '../../../src/shop/orders/buyer.ts'
import { couponsOverLimit, hasReachedLimit } from '../../../src/shop/orders/coupon-uses.ts'
import { payOrder } from '../../../src/shop/orders/transition.ts'
import { couponLine, draft, line, makeCoupon, makeProduct, makeUser, place } from '../orders/support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

const email = 'lena@shop.example'

function shopWithCoupon() {
  const db = emptyShop()
  const couponId = makeCoupon(db, { maxUsesPerCustomer: 1 })
  const buy = (userId: number | null) => {
    const coupons = [couponLine(couponId, { customerKey: userId === null ? null : `user:${userId}` })]
    const { id } = place(db, draft([line(makeProduct(db))], { userId, email, coupons }))
    write(db, (tx) => payOrder(tx, id, { by: 'gateway', reason: 'paid' }, noon))
    return id
  }
  return { db, couponId, buy }
}

it('a coupon for one use by each customer stays used when the account is erased and registered again', () => {
  const { db, couponId, buy } = shopWithCoupon()
  const { id } = makeUser(db, email)
  buy(id)
  erasePerson(db, id, noon)
  const again = makeUser(db, email)
  confirmEmail(db, again.id, noon)
  expect(hasReachedLimit(db, { couponId, customerKey: `user:${again.id}` })).toBe(true)
  expect(hasReachedLimit(db, { couponId, customerKey: `email:${email}` })).toBe(true)
  expect(couponsOverLimit(db, buy(null), 'LENA@shop.example')).toEqual(['WELCOME10'])
  const other = makeUser(db, 'ada@shop.example')
  expect(hasReachedLimit(db, { couponId, customerKey: `user:${other.id}` })).toBe(false)
})

it('a coupon for one use stays used when the order of a guest loses its buyer', () => {
  const { db, buy } = shopWithCoupon()
  const first = buy(null)
  write(db, (tx) => anonymiseOrders(tx, [first]))
  expect(couponsOverLimit(db, buy(null), email)).toEqual(['WELCOME10'])
  expect(couponsOverLimit(db, first, 'ada@shop.example')).toEqual([])
})
