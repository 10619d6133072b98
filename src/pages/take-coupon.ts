import { validationFailed } from '../errors.ts'
import type { Db, Tx } from '../platform/db/database.ts'
import { writeWhenFree } from '../platform/db/busy.ts'
import { judgeCodes } from '../shop/checkout/judge-codes.ts'
import type { ShopContext } from '../shop/context.ts'
import { addCoupon } from '../shop/orders/add-coupon.ts'
import { getOrder } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/rows.ts'
import { attemptsOf } from '../shop/payments/attempts.ts'
import { payNothing } from '../shop/payments/pay-nothing.ts'
import { isPayable } from './order-page.ts'
import { standingOf } from './order-standing.ts'

/** A sum that a payment page asks for already stays as it is. */
export function canTakeCoupon(db: Db, order: OrderRow): boolean {
  return order.status === 'pending' && attemptsOf(db, order.id).every(({ outcome }) => outcome !== null)
}

/**
 * Takes the code that a buyer typed on the hosted page. An order that then costs nothing is paid; one that is settled
 * already stays as it is.
 *
 * @throws AppError VALIDATION_FAILED (`coupon`), RATE_LIMITED
 */
export async function takeCoupon(shop: ShopContext, orderId: number, code: string, addressKey: string): Promise<void> {
  await judgeCodes(shop, addressKey, (judge) =>
    writeWhenFree(shop.db, (tx) => judge(() => apply(tx, orderId, code, shop.clock.now())))
  )
}

function apply(tx: Tx, orderId: number, code: string, now: number): void {
  const before = getOrder(tx, orderId)
  if (!isPayable(before, standingOf(tx, before, now))) return
  if (!canTakeCoupon(tx, before)) {
    throw validationFailed({ coupon: ['A payment has been begun, so its sum can no longer change.'] })
  }
  const order = addCoupon(tx, orderId, code, now)
  if (order.totalMinor === 0) payNothing(tx, order, now)
}
