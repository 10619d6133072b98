import { and, eq, isNull, or } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { insertStatement, rawStatement, rowStatement, rowsStatement } from '../../platform/db/statements.ts'
import { emit } from '../outbox/emit.ts'
import type { SubscriptionRow } from './rows.ts'
import { subscription } from './kinds/subscription.ts'
import { subscriptionInvoices, subscriptions } from './schema.ts'

const byGatewayId = rowsStatement(subscriptions, 'gateway_id = ? ORDER BY id')
const record = rawStatement<{ orderId: number; gatewayId: string; currentPeriodEnd: number }>(
  `INSERT INTO gateway_subscriptions (gateway_id, order_id, current_period_end)
   VALUES (@gatewayId, @orderId, @currentPeriodEnd)
   ON CONFLICT (gateway_id) DO UPDATE SET current_period_end = max(current_period_end, excluded.current_period_end)`
)
const moveOn = rawStatement<{ gatewayId: string; periodEnd: number }>(
  `UPDATE gateway_subscriptions SET current_period_end = max(current_period_end, @periodEnd) WHERE gateway_id = @gatewayId`
)

const insertInvoice = insertStatement(subscriptionInvoices)
/** The period that a renewal's order paid for; undefined for every other order. */
export const findInvoiceOfOrder = rowStatement(subscriptionInvoices, 'order_id = ?')

/** Stores which period the order of a renewal paid for. */
export function recordInvoice(tx: Tx, invoice: typeof subscriptionInvoices.$inferInsert): void {
  insertInvoice(tx, invoice)
}

/**
 * Takes back the period that a renewal's order paid for. When that is the newest period, the subscription ends now, and
 * the reconciler ends it at the gateway; a refund of an earlier period changes nothing. Other orders: nothing happens.
 */
export function takeBackRenewal(tx: Tx, orderId: number, now: number): void {
  const invoice = findInvoiceOfOrder(tx, orderId)
  if (invoice === undefined) return
  for (const row of rowsOf(tx, invoice.gatewayId)) {
    if (row.currentPeriodEnd <= invoice.periodEnd) subscription.end(tx, row.id, {}, now)
  }
}

/** Whether an order's lines started the gateway's subscription. */
export function isLinked(db: Db, gatewayId: string): boolean {
  return byGatewayId(db, gatewayId).length > 0
}

function rowsOf(tx: Tx, gatewayId: string): SubscriptionRow[] {
  return byGatewayId(tx, gatewayId)
}

function update(tx: Tx, row: SubscriptionRow, set: Partial<SubscriptionRow>): void {
  tx.orm.update(subscriptions).set(set).where(eq(subscriptions.id, row.id)).run()
}

/**
 * Says that Stripe renews what an order's lines started: their period is Stripe's from now on. To be called after
 * giveGrants, in the same transaction; again with the same id it changes nothing but the period, and what another id
 * renews already is left to that one. It is written down for lines, too, that have given nothing yet.
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
 * A paid renewal: the period moves on, never back, whatever order the reports come in, and nothing is due any more.
 * Writes `subscription.renewed` when it moved.
 *
 * @returns false when no subscription of this shop has that id.
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

/** A renewal's payment failed; Stripe goes on trying. Returns false when there is no such subscription. */
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
 * Stores that the buyer gets an email about a failed try to charge a renewal; false when the try is stored already.
 *
 * @param reportedTry names the invoice and the try
 */
export function reportFailedTry(tx: Tx, gatewayId: string, reportedTry: string): boolean {
  return reportTry(tx).run({ gatewayId, reportedTry }).changes > 0
}

/** Whether a benefit of the subscription has ended here already, by a refund or by the operator. */
export function hasEndedHere(db: Db, gatewayId: string): boolean {
  return byGatewayId(db, gatewayId).some(({ cancelledAt }) => cancelledAt !== null)
}

/** Whether it will end with the period that is paid. Returns false when there is no such subscription. */
export function setCancelAtPeriodEnd(tx: Tx, gatewayId: string, cancelAtPeriodEnd: boolean): boolean {
  const rows = rowsOf(tx, gatewayId)
  for (const row of rows) if (row.cancelledAt === null) update(tx, row, { cancelAtPeriodEnd })
  return rows.length > 0
}

/**
 * Stripe has ended it: nothing will be renewed, and what is paid for stays in force to its end. Writes
 * `subscription.ended` once. Returns false when there is no such subscription.
 */
export function endSubscription(tx: Tx, gatewayId: string, now: number): boolean {
  const rows = rowsOf(tx, gatewayId)
  for (const row of rows.filter(({ cancelledAt }) => cancelledAt === null)) {
    update(tx, row, { cancelledAt: now })
    emit(tx, 'subscription.ended', { subscriptionId: row.id, userId: row.userId }, now)
  }
  return rows.length > 0
}
