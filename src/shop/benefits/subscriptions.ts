import { and, eq, isNull, or, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { rawStatement, statement } from '../../platform/db/database.ts'
import { emit } from '../webhooks/emit.ts'
import type { SubscriptionRow } from './rows.ts'
import { subscription } from './kinds/subscription.ts'
import { subscriptionInvoices, subscriptions } from './schema.ts'

const byGatewayId = statement((orm) =>
  orm
    .select()
    .from(subscriptions)
    .where(eq(subscriptions.gatewayId, sql.placeholder('gatewayId')))
    .orderBy(subscriptions.id)
    .prepare()
)
const record = rawStatement<{ orderId: number; gatewayId: string; currentPeriodEnd: number }>(
  `INSERT INTO gateway_subscriptions (gateway_id, order_id, current_period_end)
   VALUES (@gatewayId, @orderId, @currentPeriodEnd)
   ON CONFLICT (gateway_id) DO UPDATE SET current_period_end = max(current_period_end, excluded.current_period_end)`
)
const moveOn = rawStatement<{ gatewayId: string; periodEnd: number }>(
  `UPDATE gateway_subscriptions SET current_period_end = max(current_period_end, @periodEnd) WHERE gateway_id = @gatewayId`
)

const setEnd = rawStatement<{ gatewayId: string; cancelAtPeriodEnd: 0 | 1 }>(
  `UPDATE gateway_subscriptions SET cancel_at_period_end = @cancelAtPeriodEnd
    WHERE gateway_id = @gatewayId AND cancel_at_period_end <> @cancelAtPeriodEnd`
)

const invoiceOfOrder = statement((orm) =>
  orm
    .select()
    .from(subscriptionInvoices)
    .where(eq(subscriptionInvoices.orderId, sql.placeholder('orderId')))
    .prepare()
)

/** The period that a renewal's order paid for; undefined for other orders. */
export function findInvoiceOfOrder(db: Db, orderId: number): typeof subscriptionInvoices.$inferSelect | undefined {
  return invoiceOfOrder(db).get({ orderId })
}

/** Stores which period the order of a renewal paid for. */
export function recordInvoice(tx: Tx, invoice: typeof subscriptionInvoices.$inferInsert): void {
  tx.orm.insert(subscriptionInvoices).values(invoice).run()
}

/**
 * Revokes the period that a renewal's order paid for. If it is the newest period, the subscription ends now, and the
 * reconciler ends it at the gateway. An earlier period, or another order, changes nothing.
 */
export function takeBackRenewal(tx: Tx, orderId: number, now: number): void {
  const invoice = findInvoiceOfOrder(tx, orderId)
  if (invoice === undefined) return
  for (const row of rowsOf(tx, invoice.gatewayId)) {
    if (row.currentPeriodEnd <= invoice.periodEnd) subscription.end(tx, row.id, {}, now)
  }
}

/** Whether a benefit of this shop is linked with a subscription at the gateway. */
export function isLinked(db: Db, gatewayId: string): boolean {
  return rowsOf(db, gatewayId).length > 0
}

function rowsOf(db: Db, gatewayId: string): SubscriptionRow[] {
  return byGatewayId(db).all({ gatewayId })
}

/** The subscriptions that an order gave, oldest first. */
export function subscriptionsOfOrder(db: Db, orderId: number): SubscriptionRow[] {
  return db.orm.select().from(subscriptions).where(eq(subscriptions.orderId, orderId)).orderBy(subscriptions.id).all()
}

function update(tx: Tx, row: SubscriptionRow, set: Partial<SubscriptionRow>): void {
  tx.orm.update(subscriptions).set(set).where(eq(subscriptions.id, row.id)).run()
}

/**
 * Links an order's subscriptions with the subscription at Stripe that renews them; from now on, Stripe determines their
 * period. Call it after giveGrants in the same transaction. A second call with the same id changes only the period.
 * Subscriptions with another id do not change. Lines that have given nothing yet are linked, too.
 */
export function linkSubscription(
  tx: Tx,
  link: { orderId: number; gatewayId: string; currentPeriodEnd: number },
  now: number
): void {
  const { gatewayId, currentPeriodEnd } = link
  record(tx).run(link)
  const rows = tx.orm
    .select()
    .from(subscriptions)
    .where(
      and(
        eq(subscriptions.orderId, link.orderId),
        isNull(subscriptions.cancelledAt),
        or(isNull(subscriptions.gatewayId), eq(subscriptions.gatewayId, gatewayId))
      )
    )
    .orderBy(subscriptions.id)
    .all()
  for (const row of rows) update(tx, row, { gatewayId, startedAt: Math.min(row.startedAt, now), currentPeriodEnd })
}

/**
 * Records a paid renewal: extends the period, and clears a failed renewal. Reports may arrive in any order, so the
 * period never gets shorter. Emits `subscription.renewed` when it gets longer.
 *
 * @returns false if the shop has no subscription with this id
 */
export function renewSubscription(tx: Tx, gatewayId: string, periodEnd: number, now: number): boolean {
  moveOn(tx).run({ gatewayId, periodEnd })
  const rows = rowsOf(tx, gatewayId)
  for (const row of rows.filter(({ cancelledAt }) => cancelledAt === null)) {
    const currentPeriodEnd = Math.max(row.currentPeriodEnd, periodEnd)
    update(tx, row, { currentPeriodEnd, pastDueSince: null })
    if (currentPeriodEnd === row.currentPeriodEnd) continue
    const facts = {
      subscriptionId: row.id,
      userId: row.userId,
      currentPeriodEnd: new Date(currentPeriodEnd).toISOString()
    }
    emit(tx, 'subscription.renewed', facts, now)
  }
  return rows.length > 0
}

/** Records that a renewal's payment failed; Stripe tries again. Returns false for an unknown subscription. */
export function markPastDue(tx: Tx, gatewayId: string, now: number): boolean {
  const rows = rowsOf(tx, gatewayId)
  for (const row of rows) if (row.cancelledAt === null) update(tx, row, { pastDueSince: row.pastDueSince ?? now })
  return rows.length > 0
}

const reportTry = rawStatement<{ gatewayId: string; reportedTry: string }>(
  `UPDATE gateway_subscriptions SET reported_try = @reportedTry
    WHERE gateway_id = @gatewayId AND reported_try IS NOT @reportedTry`
)

/**
 * Stores that an email reports a failed attempt to charge a renewal; false if the attempt is already stored.
 *
 * @param reportedTry identifies the invoice and the attempt
 */
export function reportFailedTry(tx: Tx, gatewayId: string, reportedTry: string): boolean {
  return reportTry(tx).run({ gatewayId, reportedTry }).changes > 0
}

/** Whether a benefit of the subscription has ended in the shop, by a refund or by an operator. */
export function hasEndedHere(db: Db, gatewayId: string): boolean {
  return rowsOf(db, gatewayId).some(({ cancelledAt }) => cancelledAt !== null)
}

/** Stores whether the subscription ends with the paid period. Returns whether that changed. */
export function setCancelAtPeriodEnd(tx: Tx, gatewayId: string, cancelAtPeriodEnd: boolean): boolean {
  const { changes } = setEnd(tx).run({ gatewayId, cancelAtPeriodEnd: cancelAtPeriodEnd ? 1 : 0 })
  for (const row of rowsOf(tx, gatewayId)) if (row.cancelledAt === null) update(tx, row, { cancelAtPeriodEnd })
  return changes > 0
}

/**
 * Records that Stripe has ended a subscription: it is not renewed, and stays in force until the end of the paid period.
 * Emits `subscription.ended` once. Returns false for an unknown subscription.
 */
export function endSubscription(tx: Tx, gatewayId: string, now: number): boolean {
  const rows = rowsOf(tx, gatewayId)
  for (const row of rows.filter(({ cancelledAt }) => cancelledAt === null)) {
    update(tx, row, { cancelledAt: now })
    emit(tx, 'subscription.ended', { subscriptionId: row.id, userId: row.userId }, now)
  }
  return rows.length > 0
}
