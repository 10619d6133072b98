import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { orderCoupons, orders } from './schema.ts'

/** Takes the person out of the orders of an account that is erased; what was bought and paid stays for the books. */
export function anonymiseOrdersOf(tx: Tx, userId: number): void {
  tx.orm
    .update(orders)
    .set({ email: null, emailKey: null, contact: {}, billingAddress: null, shippingAddress: null, notes: null })
    .where(eq(orders.userId, userId))
    .run()
  tx.orm
    .update(orderCoupons)
    .set({ customerKey: `user:${userId}` })
    .where(
      sql`${orderCoupons.customerKey} LIKE 'email:%' AND ${orderCoupons.orderId} IN
        (SELECT ${orders.id} FROM ${orders} WHERE ${orders.userId} = ${userId})`
    )
    .run()
}
