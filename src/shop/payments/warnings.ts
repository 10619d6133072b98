import { and, desc, eq, getTableColumns, inArray, isNull, lt, notInArray, or, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write, writeWhenFree } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { isQueued, queueMailToShop } from '../mail/queue.ts'
import { getOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { orders } from '../orders/schema.ts'
import { taxesOfOrder } from '../orders/totals.ts'
import { isOwedByBuyer } from '../tax/categories.ts'
import { paymentWarnings } from './schema.ts'
import type { Logger } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { keysOf } from '../../platform/typed.ts'

/** What each kind of warning is about, in the plural. */
const kinds = {
  mismatch: 'payments that do not match their order',
  foreign_object: 'payments of orders that the shop does not know',
  late_payment: 'late payments',
  coupon_limit: 'paid orders with a coupon that their buyer had used up',
  paid_twice: 'orders that were paid twice',
  vat_id: 'tax-free sales to a VAT id that VIES did not confirm',
  dispute: 'disputes',
  withdrawal: 'buyers who withdraw from a contract',
  cancellation: 'cancelled subscriptions that need a person',
  refund_failed: 'failed refunds',
  charge_not_in_shop: 'charges at Stripe that the shop does not have',
  charge_not_at_stripe: 'payments that Stripe does not have',
  amount_differs: 'payments of another amount at Stripe',
  refund_not_in_shop: 'refunds at Stripe that the shop does not have',
  refund_not_at_stripe: 'refunds that Stripe does not have'
} as const

export type WarningKind = keyof typeof kinds
export const warningKinds = keysOf(kinds)

/** What a kind of warning is about, in the plural; a kind that this version does not know describes itself. */
export function describeWarning(kind: string): string {
  return Object.entries(kinds).find(([known]) => known === kind)?.[1] ?? kind
}

const emailDelayMs = 60_000

/** An operator answers these by moving the order out of on-hold. */
const aboutHold: WarningKind[] = ['late_payment', 'coupon_limit']

/**
 * Stores a warning for the operator, shown by `shopstead health`, the log and an email to the shop. The same warning is
 * stored once.
 */
export function warn({ tx, log, now }: UnitOfWork, warning: Warning): void {
  if (!storeWarning({ tx, now }, warning)) return
  const { orderId, kind, objectId, message } = warning
  log.warn(message, { kind, object: objectId, orderId: orderId ?? undefined })
}

type Warning = { orderId: number | null; kind: WarningKind; objectId: string; message: string }

/** Returns false for a warning that is stored already. */
function storeWarning({ tx, now }: Pick<UnitOfWork, 'tx' | 'now'>, warning: Warning): boolean {
  const { changes, lastInsertRowid } = tx.orm
    .insert(paymentWarnings)
    .values({ ...warning, createdAt: now })
    .onConflictDoNothing()
    .run()
  if (changes === 0) return false
  mailShop(tx, Number(lastInsertRowid), now)
  return true
}

/** Warns of a paid sale without tax whose VAT id VIES did not confirm (tax.viesUnconfirmed). */
export function warnOfVatId({ tx, now }: Pick<UnitOfWork, 'tx' | 'now'>, order: OrderRow): void {
  const { id, vatId, vatCheck } = order
  if (vatId === null || vatCheck === null || vatCheck.outcome === 'confirmed') return
  if (!taxesOfOrder(tx, id).some(isOwedByBuyer)) return
  const why = vatCheck.outcome === 'other_name' ? 'VIES has another name for it' : 'VIES did not confirm it'
  const advice = `Run "shopstead tax check-id ${vatId}". If it is not the buyer's, ask for the tax or refund the order.`
  const message = `Order ${id} was paid without tax for the VAT id ${vatId}, but ${why}. ${advice}`
  storeWarning({ tx, now }, { orderId: id, kind: 'vat_id', objectId: `order ${id}`, message })
}

/** One email is about all warnings until it is sent, because a comparison with Stripe can find hundreds. */
function mailShop(tx: Tx, warningId: number, now: number): void {
  if (isQueued(tx, 'shop_payment_warning')) return
  queueMailToShop(tx, { template: 'shop_payment_warning', data: { warningId }, sendAt: now + emailDelayMs }, now)
}

/** Closes a warning whose cause is gone; health no longer shows it. */
export function resolveWarning({ tx, now }: UnitOfWork, kind: WarningKind, objectId: string): void {
  tx.orm
    .update(paymentWarnings)
    .set({ resolvedAt: now })
    .where(and(isAbout(kind, objectId), isNull(paymentWarnings.resolvedAt)))
    .run()
}

const aboutRefund: WarningKind[] = ['refund_failed', 'withdrawal']

/** Closes the warnings of a kind about an order, which an operator has dealt with. */
export function resolveWarnings({ tx, now }: UnitOfWork, kind: WarningKind, orderId: number): void {
  const about = and(eq(paymentWarnings.orderId, orderId), eq(paymentWarnings.kind, kind))
  tx.orm
    .update(paymentWarnings)
    .set({ resolvedAt: now })
    .where(and(about, isNull(paymentWarnings.resolvedAt)))
    .run()
}

/** Closes the warnings that ask to refund an order once it is refunded as a whole: nothing is left to return. */
export function resolveRefunds({ tx, now }: Pick<UnitOfWork, 'tx' | 'now'>, orderId: number): void {
  const { refundedMinor, totalMinor } = getOrder(tx, orderId)
  if (refundedMinor < totalMinor) return
  tx.orm
    .update(paymentWarnings)
    .set({ resolvedAt: now })
    .where(
      and(
        eq(paymentWarnings.orderId, orderId),
        inArray(paymentWarnings.kind, aboutRefund),
        isNull(paymentWarnings.resolvedAt)
      )
    )
    .run()
}

/** Deletes a warning, open or closed, whose cause is gone and may return: then the same warning is stored again. */
export function forgetWarning({ tx }: UnitOfWork, kind: WarningKind, objectId: string): void {
  tx.orm.delete(paymentWarnings).where(isAbout(kind, objectId)).run()
}

/**
 * Closes a warning that an operator has dealt with.
 *
 * @throws AppError NOT_FOUND when no such warning is open
 */
export function dismissWarning(db: Db, id: number, now: number): void {
  const open = and(eq(paymentWarnings.id, id), isNull(paymentWarnings.resolvedAt))
  const { changes } = write(db, (tx) => tx.orm.update(paymentWarnings).set({ resolvedAt: now }).where(open).run())
  if (changes === 0) throw new AppError('NOT_FOUND', `There is no open warning ${id}.`)
}

/** Whether such a warning was ever stored, open or closed. */
export function wasWarned(db: Db, kind: WarningKind, objectId: string): boolean {
  return db.orm.select().from(paymentWarnings).where(isAbout(kind, objectId)).get() !== undefined
}

export type WarningRow = typeof paymentWarnings.$inferSelect

/** Open warnings by kind: how many, and the newest one. The kind with the newest warning comes first. */
export function groupWarnings(
  newestFirst: readonly WarningRow[]
): { kind: string; newest: WarningRow; count: number }[] {
  const byKind = Map.groupBy(newestFirst, ({ kind }) => kind)
  return [...byKind].flatMap(([kind, rows]) => rows.slice(0, 1).map((newest) => ({ kind, newest, count: rows.length })))
}

/**
 * Open warnings, newest first, read while they are used. The warning of an order that was put on hold closes when the
 * order leaves on-hold.
 */
export function listWarnings(db: Db, kind?: WarningKind): Generator<WarningRow, void> {
  const next = (last: WarningRow | undefined, most: number): WarningRow[] =>
    db.orm
      .select(getTableColumns(paymentWarnings))
      .from(paymentWarnings)
      .leftJoin(orders, eq(orders.id, paymentWarnings.orderId))
      .where(
        and(
          isNull(paymentWarnings.resolvedAt),
          // The + keeps SQLite from searching by kind, and sorting all of them again for each part.
          kind && eq(sql`+${paymentWarnings.kind}`, kind),
          or(notInArray(paymentWarnings.kind, aboutHold), eq(orders.status, 'on-hold')),
          last && lt(paymentWarnings.id, last.id)
        )
      )
      .orderBy(desc(paymentWarnings.id))
      .limit(most)
      .all()
  return inParts(db, next, (rows) => rows)
}

/** All open warnings, newest first. */
export function openWarnings(db: Db, kind?: WarningKind): WarningRow[] {
  return [...listWarnings(db, kind)]
}

function isAbout(kind: WarningKind, objectId: string) {
  return and(eq(paymentWarnings.kind, kind), eq(paymentWarnings.objectId, objectId))
}

/** One write transaction of payments: where it writes, who acts, at what time, and the log for warnings. */
export type UnitOfWork = { readonly tx: Tx; readonly log: Logger; readonly by: string; readonly now: number }

/** Runs `work` in one write transaction; `by` is the actor that the audit rows name. */
export function runUnitOfWork<T>(
  shop: Pick<ShopContext, 'db' | 'log' | 'clock'>,
  by: string,
  work: (unit: UnitOfWork) => T extends PromiseLike<unknown> ? never : T
): Promise<T> {
  return writeWhenFree<T>(shop.db, (tx) => work({ tx, log: shop.log, by, now: shop.clock.now() }))
}
