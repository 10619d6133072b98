import type { Db, Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { documentsOf } from '../invoices/find.ts'
import type { InvoiceRow } from '../invoices/rows.ts'

const forget = rawStatement<{ before: string; limit: number }>(`
  UPDATE invoices SET buyer = NULL WHERE id IN (
    SELECT i.id FROM invoices i JOIN orders o ON o.id = i.order_id
     WHERE i.date < @before AND i.buyer IS NOT NULL AND o.email IS NULL AND o.contact = '{}'
       AND o.billing_address IS NULL AND o.shipping_address IS NULL
     LIMIT @limit)`)

/**
 * Removes the buyer from documents that were issued before a day (YYYY-MM-DD), if their order has no personal data any
 * more, at most `limit` of them. Returns how many were changed.
 */
export function forgetBuyers(tx: Tx, before: string, limit: number): number {
  return forget(tx).run({ before, limit }).changes
}

const ordersOf = rawStatement<{ userId: number; emailKey: string }, { id: number }>(`
  SELECT id FROM orders WHERE user_id = @userId OR (user_id IS NULL AND email_key = @emailKey) ORDER BY id`)

/** The invoices and credit notes of an account's orders and of the guest orders with its email. */
export function documentsOfPerson(db: Db, { id: userId, emailKey }: { id: number; emailKey: string }): InvoiceRow[] {
  return ordersOf(db)
    .all({ userId, emailKey })
    .flatMap(({ id }) => documentsOf(db, id))
}
