import { desc, isNull } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { paymentWarnings } from './schema.ts'

export type WarningKind = 'mismatch' | 'foreign_object' | 'late_payment' | 'paid_twice' | 'dispute' | 'refund_failed'

/** Writes down what an operator has to look at; the same thing once, however often it is reported. */
export function warn(
  tx: Tx,
  warning: { orderId: number | null; kind: WarningKind; objectId: string; message: string },
  now: number
): void {
  tx.orm
    .insert(paymentWarnings)
    .values({ ...warning, createdAt: now })
    .onConflictDoNothing()
    .run()
}

/** What nobody has dealt with yet, newest first. */
export function openWarnings(db: Db): (typeof paymentWarnings.$inferSelect)[] {
  return db.orm
    .select()
    .from(paymentWarnings)
    .where(isNull(paymentWarnings.resolvedAt))
    .orderBy(desc(paymentWarnings.id))
    .all()
}
