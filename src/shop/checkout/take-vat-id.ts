import { validationFailed } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { Db } from '../../platform/db/database.ts'
import { readVatId } from '../../platform/vat/vat-id.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { cartRefused } from '../orders/problems.ts'
import { setVatId } from '../orders/reprice-order.ts'
import type { OrderRow } from '../orders/find.ts'
import { mayReverseCharge } from '../tax/terms.ts'
import { belowMinimum, isTooSmallForCard } from './below-minimum.ts'
import { buyerStatusOf, canTakeCoupon, isPayable } from './buyer-status.ts'
import { offeredMethods } from './choose-payment.ts'
import { repriceShipping } from './order-shipping.ts'

/** Whether the hosted page asks for the VAT id of a business: it can change the tax, and no payment has started. */
export function takesVatId(db: Db, order: OrderRow): boolean {
  return mayReverseCharge(db) && canTakeCoupon(db, order)
}

/** Whether a text is the VAT id that an order has. A text with a mistake is not. */
export function isVatIdOf(order: OrderRow, text: string): boolean {
  return readVatId(text)?.id === order.vatId
}

/**
 * Stores the VAT id that a buyer typed on the hosted page, or removes it, and computes the taxes again. An order that cannot
 * be paid any more stays as it is.
 *
 * @throws AppError VALIDATION_FAILED (`vatId`)
 */
export async function takeVatId(shop: ShopContext, orderId: number, text: string): Promise<void> {
  const vatId = readVatId(text)?.id ?? null
  if (vatId === null && text.trim() !== '')
    throw validationFailed({ vatId: ['Please enter a VAT id with its country code, such as ATU12345675.'] })
  await writeWhenFree(shop.db, (tx) => {
    const now = shop.clock.now()
    const before = getOrder(tx, orderId)
    if (!isPayable(before, buyerStatusOf(tx, before, now))) return
    if (!takesVatId(tx, before))
      throw validationFailed({ vatId: ['A payment has started, so the total can no longer change.'] })
    const order = repriceShipping(tx, setVatId(tx, before, vatId, now), now)
    if (offeredMethods(shop, order).length === 0 && isTooSmallForCard(shop, order))
      throw cartRefused([belowMinimum(order, 'vatId')])
  })
}
