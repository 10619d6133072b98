import { and, desc, eq, getTableColumns, isNull, ne, or } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { orders } from '../orders/schema.ts'
import type { Booking } from './booking.ts'
import { paymentWarnings } from './schema.ts'

export type WarningKind = 'mismatch' | 'foreign_object' | 'late_payment' | 'paid_twice' | 'dispute' | 'refund_failed'

/**
 * Writes down what an operator has to look at, for `shopstead health` and for the log; the same thing once, however
 * often it is reported.
 */
export function warn(
  { tx, log, now }: Booking,
  warning: { orderId: number | null; kind: WarningKind; objectId: string; message: string }
): void {
  const { changes } = tx.orm
    .insert(paymentWarnings)
    .values({ ...warning, createdAt: now })
    .onConflictDoNothing()
    .run()
  if (changes === 0) return
  const { orderId, kind, objectId, message } = warning
  log.warn(message, { kind, object: objectId, orderId: orderId ?? undefined })
}

/** What the warning was about has been settled: health is silent about it from now on. */
export function resolveWarning({ tx, now }: Booking, kind: WarningKind, objectId: string): void {
  tx.orm
    .update(paymentWarnings)
    .set({ resolvedAt: now })
    .where(and(isAbout(kind, objectId), isNull(paymentWarnings.resolvedAt)))
    .run()
}

/**
 * Marks a warning as dealt with, for an operator: health does not report it any more.
 *
 * @throws AppError NOT_FOUND when no such warning is open
 */
export function dismissWarning(db: Db, id: number, now: number): void {
  const open = and(eq(paymentWarnings.id, id), isNull(paymentWarnings.resolvedAt))
  const { changes } = write(db, (tx) => tx.orm.update(paymentWarnings).set({ resolvedAt: now }).where(open).run())
  if (changes === 0) throw new AppError('NOT_FOUND', `There is no open warning ${id}.`)
}

/** Whether it was ever said, settled since or not. */
export function wasWarned(db: Db, kind: WarningKind, objectId: string): boolean {
  return db.orm.select().from(paymentWarnings).where(isAbout(kind, objectId)).get() !== undefined
}

/** What nobody has dealt with yet, newest first; an order that was paid late is dealt with once it is off hold. */
export function openWarnings(db: Db): (typeof paymentWarnings.$inferSelect)[] {
  return db.orm
    .select(getTableColumns(paymentWarnings))
    .from(paymentWarnings)
    .leftJoin(orders, eq(orders.id, paymentWarnings.orderId))
    .where(
      and(
        isNull(paymentWarnings.resolvedAt),
        or(ne(paymentWarnings.kind, 'late_payment'), eq(orders.status, 'on-hold'))
      )
    )
    .orderBy(desc(paymentWarnings.id))
    .all()
}

function isAbout(kind: WarningKind, objectId: string) {
  return and(eq(paymentWarnings.kind, kind), eq(paymentWarnings.objectId, objectId))
}
