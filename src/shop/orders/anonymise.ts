import { and, eq, inArray, like } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import type { UserRow } from '../accounts/rows.ts'
import { placedAsGuest } from './guest-orders.ts'
import { orderCoupons, orders } from './schema.ts'

/**
 * Takes the person out of the orders of an account that is erased, and out of those placed as a guest with its email,
 * verified or not: nothing is told to anybody by it, and an erasure that passed them over would leave name and address
 * behind. What was bought and paid stays for the books.
 */
export function anonymiseOrdersOf(tx: Tx, { id, emailKey }: Pick<UserRow, 'id' | 'emailKey'>): void {
  anonymise(tx, eq(orders.userId, id), `user:${id}`)
  anonymise(tx, placedAsGuest(emailKey), null)
}

/** @param customerKey whose uses the coupons of these orders are from now on; null for nobody's that is known */
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
