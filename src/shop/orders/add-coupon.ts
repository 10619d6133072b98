import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { couponRefusals, findCouponRefusal } from '../catalog/coupon-rules.ts'
import { couponScope, findCoupon } from '../catalog/coupons.ts'
import type { CouponRow } from '../catalog/rows.ts'
import { customerKeyOf, takeCouponUse } from './coupon-uses.ts'
import { couponsRefused } from './coupons-refused.ts'
import { couponsOf, getOrder } from './find.ts'
import { discountableLines, repriceOrder } from './reprice-order.ts'
import type { OrderRow } from './rows.ts'
import { orderCoupons } from './schema.ts'

/**
 * Adds a coupon to a pending order: takes a use of it, distributes all discounts over the lines again, and updates the
 * totals and the referral. The prices of the lines stay as they were ordered.
 *
 * @throws AppError VALIDATION_FAILED (`coupon`) for a code that does not apply, CONFLICT for an order that is not
 *   pending
 */
export function addCoupon(tx: Tx, orderId: number, code: string, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  if (order.status !== 'pending') throw new AppError('CONFLICT', 'This order can no longer be changed.')
  const known = couponsOf(tx, orderId)
  const coupon = findCoupon(tx, code)
  if (coupon !== undefined && known.some(({ couponId }) => couponId === coupon.id)) return order
  const lines = discountableLines(tx, orderId)
  const scope = coupon === undefined ? { productIds: [], categoryIds: [] } : couponScope(tx, coupon.id)
  const refusal = findCouponRefusal(coupon, scope, { lines, now })
  if (coupon === undefined || refusal !== undefined) throw refused(couponRefusals[refusal ?? 'unknown'])
  takeUse(tx, order, coupon)
  return repriceOrder(tx, order, now)
}

/** The error for a code that does not apply. The limit on guessing codes counts it. */
function refused(message: string): AppError {
  return couponsRefused({ coupon: [message] })
}

function takeUse(tx: Tx, order: OrderRow, { id: couponId, code }: CouponRow): void {
  const customerKey = customerKeyOf(order)
  const outcome = takeCouponUse(tx, { couponId, customerKey })
  if (outcome !== 'taken') throw refused(couponRefusals[outcome])
  tx.orm
    .insert(orderCoupons)
    .values({ orderId: order.id, couponId, code, discountMinor: 0, customerKey, counted: 1 })
    .run()
}
