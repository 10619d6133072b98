import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { acceptAsOperator, rejectAsOperator } from '../../../src/shop/payouts/decide-referral.ts'
import { planPayouts } from '../../../src/shop/payouts/plan.ts'
import { explainOrder } from '../../../src/shop/orders/explain.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { repriceOrder } from '../../../src/shop/orders/reprice-order.ts'
import { orders } from '../../../src/shop/orders/schema.ts'
import { netGoodsMinor } from '../../../src/shop/orders/totals.ts'
import { applyRefunds } from '../../../src/shop/payments/gateway-refunds.ts'
import { dismissWarning, openWarnings } from '../../../src/shop/payments/warnings.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { setTaxRate } from '../../../src/shop/tax/rates.ts'
import { credited, makeAffiliate, makeUser, move, referralOf } from '../orders/support.ts'
import { openBooks } from '../payments/books.ts'
import { noon } from '../../support/temporary-shop.ts'

/** An order of 12.50 that an affiliate referred at 10 %, with a card payment. */
function referred() {
  const books = openBooks()
  const mira = makeAffiliate(books.db, makeUser(books.db, 'mira@shop.example').id)
  const order = books.place({ attribution: credited(mira) })
  const attempt = books.attempt(order)
  const take = (id: string, amountMinor: number, status: 'done' | 'failed') =>
    books.commit((unit) => applyRefunds(unit, books.now(attempt), [{ id, amountMinor, status, key: null }]))
  const plan = () => planPayouts(books.db, noon + 90 * 86_400_000)
  return { ...books, orderId: order.id, pay: () => books.tell(attempt), take, plan }
}

it('a failed order that is paid later to another country earns a commission on what it then costs', () => {
  const { db, orderId, pay } = referred()
  setSetting(db, 'tax.pricesIncludeTax', 'true', noon)
  setTaxRate(db, { country: 'CH', class: 'standard', rateMillionths: 81_000, region: '', name: null })
  move(db, orderId, 'failed')
  write(db, (tx) => {
    const shippingAddress = { city: 'Basel', country: 'CH' }
    tx.orm.update(orders).set({ shippingAddress }).where(eq(orders.id, orderId)).run()
    repriceOrder(tx, getOrder(tx, orderId), noon)
  })
  move(db, orderId, 'pending')
  pay()
  expect(netGoodsMinor(getOrder(db, orderId))).toBe(1_156)
  expect(referralOf(db, orderId)).toMatchObject({ status: 'unpaid', amountMinor: 116 })
  const { referral } = explainOrder(db, orderId)
  expect(referral[0]).toMatchObject({ rule: 'commission', outcome: '€1.16 now' })
})

it('a partial refund that failed after a rejection leaves the whole commission to accept', () => {
  const { db, orderId, pay, take } = referred()
  pay()
  take('re_1', 500, 'done')
  const { id = 0 } = referralOf(db, orderId) ?? {}
  rejectAsOperator(db, id, 'looks odd', noon)
  take('re_1', 500, 'failed')
  expect(referralOf(db, orderId)).toMatchObject({ status: 'rejected', amountMinor: 125 })
  acceptAsOperator(db, id, noon)
  expect(referralOf(db, orderId)).toMatchObject({ status: 'unpaid', amountMinor: 125 })
})

it('a full refund that failed holds the commission until an operator decides that the shop keeps the money', () => {
  const { db, orderId, pay, take, plan } = referred()
  pay()
  take('re_1', 1_250, 'done')
  take('re_1', 1_250, 'failed')
  expect(plan()).toMatchObject([
    { amountMinor: 0, heldMinor: 125, held: [{ orderId, amountMinor: 125, reason: 'refund_failed' }] }
  ])
  const [warning] = openWarnings(db)
  dismissWarning(db, warning?.id ?? 0, noon)
  expect(plan()).toMatchObject([{ amountMinor: 125, heldMinor: 0 }])
})

it('a full refund that failed and was made again takes the commission back', () => {
  const { db, orderId, pay, take, plan } = referred()
  pay()
  take('re_1', 1_250, 'done')
  take('re_1', 1_250, 'failed')
  take('re_2', 1_250, 'done')
  expect(referralOf(db, orderId)).toMatchObject({ status: 'rejected', rejectedFor: 'order_refunded', amountMinor: 0 })
  expect(plan()).toEqual([])
})
