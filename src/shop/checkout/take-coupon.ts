import { validationFailed } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { addCoupon } from '../orders/reprice-order.ts'
import { getOrder, itemsOf } from '../orders/find.ts'
import { cartRefused } from '../orders/problems.ts'
import { payNothing } from '../payments/pay-nothing.ts'
import { belowMinimum, isTooSmallForCard } from './below-minimum.ts'
import { offeredMethods } from './choose-payment.ts'
import { buyerStatusOf, canTakeCoupon, isPayable } from './buyer-status.ts'
import { assertKnownBuyer } from './known-buyer.ts'
import { evaluateCodes } from './evaluate-codes.ts'
import { lacksMethod, repriceShipping } from './order-shipping.ts'
import { lacksAddress } from './ship-to.ts'

/**
 * Applies the code that a buyer typed on the hosted page. If the order then costs nothing, it is paid, unless the buyer
 * has to say where to ship it. An order that cannot be paid any more stays as it is.
 *
 * @throws AppError VALIDATION_FAILED (`coupon`), RATE_LIMITED
 */
export async function takeCoupon(shop: ShopContext, orderId: number, code: string, addressKey: string): Promise<void> {
  await evaluateCodes(shop, addressKey, (evaluate) =>
    writeWhenFree(shop.db, (tx) => evaluate(() => apply(tx, shop, orderId, code)))
  )
}

function apply(tx: Tx, shop: ShopContext, orderId: number, code: string): void {
  const now = shop.clock.now()
  const before = getOrder(tx, orderId)
  if (!isPayable(before, buyerStatusOf(tx, before, now))) return
  if (!canTakeCoupon(tx, before)) {
    throw validationFailed({ coupon: ['A payment has started, so the total can no longer change.'] })
  }
  const order = repriceShipping(tx, addCoupon(tx, orderId, code, now), now)
  // The total is not final while the shipping is missing.
  if (lacksMethod(tx, order)) return
  if (offeredMethods(shop, order).length === 0 && isTooSmallForCard(shop, order))
    throw cartRefused([belowMinimum(order, 'coupon')])
  if (order.totalMinor > 0) return
  assertKnownBuyer(tx, order, 'coupon')
  if (lacksAddress(tx, itemsOf(tx, order.id), order)) return
  payNothing(tx, order, now)
}
