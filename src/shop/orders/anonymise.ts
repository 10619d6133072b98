import { and, eq, inArray, like } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { sqlList } from '../../platform/db/columns.ts'
import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import type { UserRow } from '../accounts/rows.ts'
import { placedAsGuest } from './guest-orders.ts'
import { orderCoupons, orders, unpaidGuestWithData } from './schema.ts'
import { releasedStatuses } from './states.ts'

const released = sqlList(releasedStatuses)

// The condition on personal data is written as in the partial index, otherwise SQLite does not use it.
const unpaidGuests = rawStatement<{ before: number; limit: number }, { id: number }>(`
  SELECT id FROM orders
  WHERE ${unpaidGuestWithData} AND created_at < @before AND updated_at < @before AND status IN (${released})
  ORDER BY created_at LIMIT @limit`)

/**
 * Removes the personal data from the orders of an erased account, and from the guest orders with its email. The email
 * need not be verified: the removal reveals nothing, and without it, names and addresses would remain. Items and
 * amounts stay for accounting.
 */
export function anonymiseOrdersOf(tx: Tx, { id, emailKey }: Pick<UserRow, 'id' | 'emailKey'>): void {
  anonymise(tx, eq(orders.userId, id), `user:${id}`)
  anonymise(tx, placedAsGuest(emailKey), null)
}

/**
 * Removes the personal data from unpaid orders without an account that have not changed since a time, at most `limit` of
 * them. The rows stay. Returns how many orders were changed.
 */
export function anonymiseUnpaidOrders(tx: Tx, before: number, limit: number): number {
  const ids = unpaidGuests(tx)
    .all({ before, limit })
    .map(({ id }) => id)
  if (ids.length > 0) anonymise(tx, inArray(orders.id, ids), null)
  return ids.length
}

/** @param customerKey the customer whose coupon uses these orders count from now on; null for an unknown customer */
function anonymise(tx: Tx, whose: SQL | undefined, customerKey: string | null): void {
  const ids = tx.orm.select({ id: orders.id }).from(orders).where(whose)
  tx.orm
    .update(orderCoupons)
    .set({ customerKey })
    .where(and(like(orderCoupons.customerKey, 'email:%'), inArray(orderCoupons.orderId, ids)))
    .run()
  tx.orm
    .update(orders)
    .set({
      email: null,
      emailKey: null,
      contact: {},
      billingAddress: null,
      shippingAddress: null,
      notes: null,
      vatId: null
    })
    .where(whose)
    .run()
}
