import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { findOrder } from '../../../src/shop/orders/find.ts'
import { orderStatuses } from '../../../src/shop/orders/states.ts'
import { couponLine, draft, line, makeCoupon, makeProduct, move, place, stockOf, usedOf } from './support.ts'
import { emptyShop } from '../../support/temporary-shop.ts'

const units = 4
const step = fc.record({
  order: fc.nat(3),
  to: fc.constantFrom(...orderStatuses),
  latePayment: fc.boolean()
})

const isCompleted = (db: Db, id: number | undefined): boolean =>
  id !== undefined && findOrder(db, id)?.status === 'completed'

test('whatever way orders go, stock and coupon uses add up and never fall below zero', () => {
  const db = emptyShop()
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
      const slug = randomUUID()
      const productId = makeProduct(db, { slug, stock: units })
      const couponId = makeCoupon(db, { code: slug, codeKey: slug, maxUses: 2 })
      const ids: number[] = []
      // What completed orders have handed over never returns to the stock.
      let gone = 0
      const attempt = (act: () => void): void => {
        try {
          act()
        } catch (error) {
          if (!(error instanceof AppError)) throw error
        }
      }
      for (const { order, to, latePayment } of steps) {
        const id = ids[order]
        const wasCompleted = isCompleted(db, id)
        if (id !== undefined) attempt(() => void move(db, id, to, { latePayment }))
        else {
          const lines = [line(productId, { quantity: 2 })]
          attempt(() => void ids.push(place(db, draft(lines, { coupons: [couponLine(couponId)] })).id))
        }
        const taken = db.sqlite
          .prepare('SELECT coalesce(sum(stock_taken), 0) FROM order_items WHERE product_id = ?')
          .pluck()
          .get(productId)
        const counted = db.sqlite
          .prepare('SELECT coalesce(sum(counted), 0) FROM order_coupons WHERE coupon_id = ?')
          .pluck()
          .get(couponId)
        const out = units - (stockOf(db, productId) ?? 0) - Number(taken)
        if (!wasCompleted && isCompleted(db, id)) expect([gone, gone + 2]).toContain(out)
        else expect(out).toBe(gone)
        gone = out
        expect(usedOf(db, couponId)).toBe(counted)
      }
    }),
    { numRuns: 40 }
  )
})
