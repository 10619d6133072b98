import { validationFailed } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { hasCustomerLimit } from '../orders/customer-limits.ts'
import type { OrderRow } from '../orders/rows.ts'

/**
 * Refuses an order of a guest that costs nothing because of a coupon with a limit per customer: no payment will check who
 * buys. The answer is the same for every email.
 *
 * @throws AppError VALIDATION_FAILED on `field`
 */
export function assertKnownBuyer(db: Db, { id, userId }: Pick<OrderRow, 'id' | 'userId'>, field: string): void {
  if (userId === null && hasCustomerLimit(db, id))
    throw validationFailed({ [field]: ['Please log in to use this code: the order would cost nothing.'] })
}
