import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { emit } from '../outbox/emit.ts'
import { donations, downloadPermissions, enrolments, memberships, plans, subscriptions } from './schema.ts'

export const benefitKinds = ['membership', 'subscription', 'course', 'download', 'donation'] as const
export type BenefitKind = (typeof benefitKinds)[number]

type Shift = { id: number; from: number; by: number }

/**
 * What was bought to follow on a period that is taken back moves up by what was left of it: the refund takes back its
 * own period to the millisecond, and nobody loses a day that another order paid for.
 */
const moveMembershipsUp = rawStatement<Shift>(
  `UPDATE memberships SET started_at = started_at - @by, expires_at = expires_at - @by
   WHERE cancelled_at IS NULL AND expires_at IS NOT NULL AND started_at >= @from AND id <> @id
     AND (user_id, plan_id) = (SELECT user_id, plan_id FROM memberships WHERE id = @id)`
)
const moveSubscriptionsUp = rawStatement<Shift>(
  `UPDATE subscriptions SET started_at = started_at - @by, current_period_end = current_period_end - @by
   WHERE cancelled_at IS NULL AND gateway_id IS NULL AND started_at >= @from AND id <> @id
     AND (user_id, product_id, interval, is_pro) =
         (SELECT user_id, product_id, interval, is_pro FROM subscriptions WHERE id = @id)`
)
const moveDownloadsUp = rawStatement<Shift>(
  `UPDATE download_permissions SET started_at = started_at - @by, expires_at = expires_at - @by
   WHERE revoked_at IS NULL AND expires_at IS NOT NULL AND started_at >= @from AND id <> @id
     AND (user_id, product_id, file) = (SELECT user_id, product_id, file FROM download_permissions WHERE id = @id)`
)

/** What is still to come of a period; undefined when it is over or has no end. */
function leftOf(row: { id: number; startedAt: number }, end: number | null, now: number): Shift | undefined {
  const by = end === null ? 0 : end - Math.max(now, row.startedAt)
  return end === null || by <= 0 ? undefined : { id: row.id, from: end, by }
}

/**
 * Ends one benefit at once and writes its `*.ended` event. False when there is none or it has ended before.
 *
 * @param byItsOrder takes it off the order's line, which can then be given again should the order be paid after all.
 */
export function endBenefit(tx: Tx, kind: BenefitKind, id: number, byItsOrder: boolean, now: number): boolean {
  const line = byItsOrder ? { orderItemId: null } : {}
  if (kind === 'membership') return endMembership(tx, id, line, now)
  if (kind === 'subscription') return endSubscription(tx, id, line, now)
  if (kind === 'download') return endDownload(tx, id, line, now)
  const table = kind === 'course' ? enrolments : donations
  const set = { revokedAt: sql`coalesce(${table.revokedAt}, ${now})`, ...line }
  const row = tx.orm.select({ revokedAt: table.revokedAt }).from(table).where(eq(table.id, id)).get()
  tx.orm.update(table).set(set).where(eq(table.id, id)).run()
  return row?.revokedAt === null
}

type Line = { orderItemId?: null }

function endMembership(tx: Tx, id: number, line: Line, now: number): boolean {
  const found = tx.orm
    .select({ row: memberships, plan: plans.slug })
    .from(memberships)
    .innerJoin(plans, eq(plans.id, memberships.planId))
    .where(eq(memberships.id, id))
    .get()
  if (found === undefined) return false
  const { row, plan } = found
  const cancelledAt = row.cancelledAt ?? now
  tx.orm
    .update(memberships)
    .set({ cancelledAt, ...line })
    .where(eq(memberships.id, id))
    .run()
  if (row.cancelledAt !== null) return false
  const left = leftOf(row, row.expiresAt, now)
  if (left !== undefined) moveMembershipsUp(tx).run(left)
  emit(tx, 'membership.ended', { membershipId: id, userId: row.userId, plan }, now)
  return true
}

/** Taken back, it is paid to no later date, unlike one that its holder cancels. */
function endSubscription(tx: Tx, id: number, line: Line, now: number): boolean {
  const row = tx.orm.select().from(subscriptions).where(eq(subscriptions.id, id)).get()
  if (row === undefined) return false
  const currentPeriodEnd = Math.min(row.currentPeriodEnd, now)
  const set = { cancelledAt: row.cancelledAt ?? now, currentPeriodEnd, ...line }
  tx.orm.update(subscriptions).set(set).where(eq(subscriptions.id, id)).run()
  if (row.cancelledAt !== null) return row.currentPeriodEnd > now
  const left = row.gatewayId === null ? leftOf(row, row.currentPeriodEnd, now) : undefined
  if (left !== undefined) moveSubscriptionsUp(tx).run(left)
  emit(tx, 'subscription.ended', { subscriptionId: id, userId: row.userId }, now)
  return true
}

function endDownload(tx: Tx, id: number, line: Line, now: number): boolean {
  const row = tx.orm.select().from(downloadPermissions).where(eq(downloadPermissions.id, id)).get()
  if (row === undefined) return false
  const revokedAt = row.revokedAt ?? now
  tx.orm
    .update(downloadPermissions)
    .set({ revokedAt, ...line })
    .where(eq(downloadPermissions.id, id))
    .run()
  if (row.revokedAt !== null) return false
  const left = leftOf(row, row.expiresAt, now)
  if (left !== undefined) moveDownloadsUp(tx).run(left)
  return true
}

/** Ends every subscription that the gateway would go on charging for, so that nobody pays who is gone. */
export function endRenewals(tx: Tx, userId: number, now: number): void {
  const rows = tx.orm
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(and(eq(subscriptions.userId, userId), isNotNull(subscriptions.gatewayId)))
    .all()
  for (const { id } of rows) endSubscription(tx, id, {}, now)
}
