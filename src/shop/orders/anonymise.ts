import { and, eq, inArray, like } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import type { UserRow } from '../accounts/rows.ts'
import { placedAsGuest } from './guest-orders.ts'
import { orderCoupons, orders } from './schema.ts'

/**
 * Removes the personal data from the orders of an erased account, and from the guest orders with its email. The email
 * need not be verified: the removal reveals nothing, and without it, names and addresses would remain. Items and
 * amounts stay for accounting.
 */
export function anonymiseOrdersOf(tx: Tx, { id, emailKey }: Pick<UserRow, 'id' | 'emailKey'>): void {
  anonymise(tx, eq(orders.userId, id), `user:${id}`)
  anonymise(tx, placedAsGuest(emailKey), null)
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
    .set({ email: null, emailKey: null, contact: {}, billingAddress: null, shippingAddress: null, notes: null })
    .where(whose)
    .run()
}
