import type { Db } from '../../platform/db/database.ts'
import { hasCustomerLimit } from '../orders/coupon-uses.ts'
import { cartRefused, refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'
import type { OrderRow } from '../orders/find.ts'

/**
 * Refuses an order of a guest that costs nothing because of a coupon with a limit per customer: no payment will check who
 * buys. The answer is the same for every email.
 *
 * @throws AppError VALIDATION_FAILED on `field`
 */
export function assertKnownBuyer(db: Db, { id, userId }: Pick<OrderRow, 'id' | 'userId'>, field: string): void {
  if (userId === null && hasCustomerLimit(db, id)) throw cartRefused([loginNeeded(field, field)])
}

/** The refusal `login_needed` of a guest's coupon with a limit per customer, with its field error on `field`. */
export function loginNeeded(path: string, field: string): Refusal {
  const message = 'Please log in to use this code: the order would cost nothing.'
  return refusal({ path, code: 'login_needed', message }, { path: field })
}
