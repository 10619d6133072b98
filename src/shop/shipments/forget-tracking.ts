import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import type { UserRow } from '../accounts/rows.ts'

const forget = rawStatement<{ userId: number; emailKey: string }>(`
  UPDATE shipments SET tracking = NULL, url = NULL
  WHERE order_id IN (SELECT id FROM orders WHERE user_id = @userId OR (user_id IS NULL AND email_key = @emailKey))`)

/**
 * Removes the tracking numbers of an account's orders and of the guest orders with its email: the carrier's page can show
 * an address. It finds the guest orders by their email, so it runs before the orders lose it.
 */
export function forgetTracking(tx: Tx, { id: userId, emailKey }: Pick<UserRow, 'id' | 'emailKey'>): void {
  forget(tx).run({ userId, emailKey })
}
