import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { setting } from '../settings/settings.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement, statement } from '../../platform/db/database.ts'
import type { DonationRow, GatewaySubscriptionRow, SubscriptionRow } from './rows.ts'
import { downloadPermissions, enrolments, gatewaySubscriptions } from './schema.ts'
import { joinPeriods } from './spans.ts'
import type { Period } from './spans.ts'

const userId = sql.placeholder('userId')
/** The number of donations that /me lists. Its totals count all donations. */
const donationsListed = 100

/** A row as SQLite returns it: SQLite has no booleans. */
type AsStored<Row> = { [Name in keyof Row]: Row[Name] extends boolean ? 0 | 1 : Row[Name] }

type MembershipPeriod = Omit<Period, 'key'> & {
  id: number
  planId: number
  planSlug: string
  planName: string
  module: 'A' | 'B'
  rank: number
  isPro: boolean
  orderId: number | null
}

/**
 * SQL for a benefit whose order is on hold, such as while the buyer's bank disputes the payment: it stops until the order
 * goes on. The state of the order is the only place that says so. Orders are a layer above, so SQL names their table.
 *
 * @param orderId the column with the order of the benefit
 */
export const isStopped = (orderId: string): string =>
  `EXISTS (SELECT 1 FROM orders o WHERE o.id = ${orderId} AND o.status = 'on-hold')`

/** A subscription also stops with its renewals, which are orders of their own. */
const isRenewalStopped = "EXISTS (SELECT 1 FROM orders o WHERE o.renewal_of = s.order_id AND o.status = 'on-hold')"

const membershipsOfUser = rawStatement<[number], AsStored<MembershipPeriod>>(
  `SELECT m.id, m.plan_id AS planId, p.slug AS planSlug, p.name AS planName, p.module, p.rank, p.is_pro AS isPro,
          m.started_at AS startedAt, m.expires_at AS endsAt, 
          m.cancelled_at IS NOT NULL OR ${isStopped('m.order_id')} AS ended, m.order_id AS orderId
     FROM memberships m JOIN plans p ON p.id = m.plan_id WHERE m.user_id = +? ORDER BY m.started_at, m.id`
)

type SubscriptionPeriod = Pick<
  SubscriptionRow,
  | 'id'
  | 'productId'
  | 'interval'
  | 'isPro'
  | 'startedAt'
  | 'currentPeriodEnd'
  | 'cancelAtPeriodEnd'
  | 'pastDueSince'
  | 'cancelledAt'
  | 'gatewayId'
  | 'orderId'
> & { name: string; isStopped: boolean }

const subscriptionsOfUser = rawStatement<[number], AsStored<SubscriptionPeriod>>(
  `SELECT s.id, s.product_id AS productId, p.name, s.interval, s.is_pro AS isPro, s.started_at AS startedAt,
          s.current_period_end AS currentPeriodEnd, s.cancel_at_period_end AS cancelAtPeriodEnd,
          s.past_due_since AS pastDueSince, s.cancelled_at AS cancelledAt, s.gateway_id AS gatewayId, s.order_id AS orderId,
          ${isStopped('s.order_id')} OR ${isRenewalStopped} AS isStopped
     FROM subscriptions s JOIN products p ON p.id = s.product_id WHERE s.user_id = +? ORDER BY s.started_at, s.id`
)

export type DonationRecord = Pick<DonationRow, 'id' | 'orderId' | 'amountMinor' | 'currency' | 'createdAt'> & {
  campaign: string | null
}

const donationsOfUser = rawStatement<[number], DonationRecord>(
  `SELECT d.id, d.order_id AS orderId, d.amount_minor AS amountMinor, d.currency, c.slug AS campaign,
          d.created_at AS createdAt
     FROM donations d LEFT JOIN campaigns c ON c.id = d.campaign_id WHERE d.user_id = +? AND d.revoked_at IS NULL
    ORDER BY d.created_at DESC, d.id DESC LIMIT ${donationsListed}`
)

const dayMs = 24 * 60 * 60_000

const donationCount = rawStatement<[number], { total: number }>(
  'SELECT count(*) AS total FROM donations WHERE user_id = ? AND revoked_at IS NULL'
)

/** The condition of a benefit that is not stopped. */
const inForce = (orderId: string) => sql`NOT ${sql.raw(isStopped(orderId))}`

const enrolmentsOfUser = statement((orm) =>
  orm
    .select({
      id: enrolments.id,
      course: enrolments.course,
      startedAt: enrolments.startedAt,
      orderId: enrolments.orderId
    })
    .from(enrolments)
    .where(and(eq(enrolments.userId, userId), isNull(enrolments.revokedAt), inForce('enrolments.order_id')))
    .orderBy(asc(enrolments.startedAt), asc(enrolments.id))
    .prepare()
)

const downloadColumns = {
  key: sql<string>`${downloadPermissions.productId} || ' ' || ${downloadPermissions.file}`,
  id: downloadPermissions.id,
  productId: downloadPermissions.productId,
  file: downloadPermissions.file,
  startedAt: downloadPermissions.startedAt,
  endsAt: downloadPermissions.expiresAt,
  orderId: downloadPermissions.orderId
}
const downloadsOfUser = statement((orm) =>
  orm
    .select(downloadColumns)
    .from(downloadPermissions)
    .where(
      and(
        eq(downloadPermissions.userId, userId),
        isNull(downloadPermissions.revokedAt),
        inForce('download_permissions.order_id')
      )
    )
    .orderBy(asc(downloadPermissions.startedAt), asc(downloadPermissions.id))
    .prepare()
)

const downloadsOfOrder = statement((orm) =>
  orm
    .select(downloadColumns)
    .from(downloadPermissions)
    .where(
      and(
        eq(downloadPermissions.orderId, sql.placeholder('orderId')),
        isNull(downloadPermissions.userId),
        isNull(downloadPermissions.revokedAt),
        inForce('download_permissions.order_id')
      )
    )
    .orderBy(asc(downloadPermissions.id))
    .prepare()
)

/** Every membership of a person, latest first. Consecutive periods are joined; `membershipStatus` gives the status. */
export function membershipsOf(db: Db, userId: number) {
  const periods = membershipsOfUser(db)
    .all(userId)
    .map((row) => ({ ...row, key: String(row.planId), isPro: row.isPro === 1, ended: row.ended === 1 }))
  return joinPeriods(periods).reverse()
}
export type MembershipRecord = ReturnType<typeof membershipsOf>[number]

/** Every subscription of a person, latest first. Consecutive fixed terms of a product are joined. */
export function subscriptionsOf(db: Db, userId: number) {
  const periods = subscriptionsOfUser(db)
    .all(userId)
    .map(({ isStopped: stopped, ...row }) => ({ ...row, isStopped: stopped === 1 }))
    .map((row) => ({ ...row, isPro: row.isPro === 1, cancelAtPeriodEnd: row.cancelAtPeriodEnd === 1 }))
    .map((row) => ({ ...row, key: termKey(row), endsAt: row.currentPeriodEnd }))
    .map((row) => ({ ...row, ended: row.cancelledAt !== null || row.isStopped }))
  // Only a failed renewal needs the setting. Without one, /me saves the statement.
  const isPastDue = periods.some(({ pastDueSince }) => pastDueSince !== null)
  const graceMs = isPastDue ? setting(db, 'subscriptions.graceDays') * dayMs : 0
  return joinPeriods(periods)
    .map((period) => ({ ...period, currentPeriodEnd: period.endsAt, graceMs }))
    .reverse()
}
export type SubscriptionRecord = ReturnType<typeof subscriptionsOf>[number]

const renewedForOrder = statement((orm) =>
  orm
    .select()
    .from(gatewaySubscriptions)
    .where(eq(gatewaySubscriptions.orderId, sql.placeholder('orderId')))
    .prepare()
)

/** The gateway's subscription of an order; undefined for an order without subscriptions, and for null. */
export function findRenewed(db: Db, orderId: number | null): GatewaySubscriptionRow | undefined {
  return orderId === null ? undefined : renewedForOrder(db).get({ orderId })
}

const anySubscription = statement((orm) =>
  orm.select({ id: gatewaySubscriptions.gatewayId }).from(gatewaySubscriptions).limit(1).prepare()
)

/** Whether anyone has had a subscription that the gateway renews. */
export function sellsSubscriptions(db: Db): boolean {
  return anySubscription(db).get() !== undefined
}

/** The key by which fixed terms are joined. Subscriptions that Stripe renews are never joined. */
function termKey(row: {
  id: number
  gatewayId: string | null
  productId: number
  interval: string
  isPro: boolean
}): string {
  return row.gatewayId === null ? `${row.productId} ${row.interval} ${row.isPro}` : `#${row.id}`
}

/** The newest hundred donations of a person that were not refunded, and their total number. */
export function donationsOf(db: Db, userId: number) {
  const donations = donationsOfUser(db).all(userId)
  // Counting needs another statement, and few people have more donations than are listed.
  const isCut = donations.length === donationsListed
  return { donations, total: isCut ? (donationCount(db).get(userId)?.total ?? 0) : donations.length }
}

/** The courses of a person. */
export function enrolmentsOf(db: Db, userId: number) {
  return enrolmentsOfUser(db).all({ userId })
}

/**
 * The download permissions of a person that were not revoked, including future and expired ones, one row for each
 * period.
 */
export function downloadsOf(db: Db, userId: number) {
  return downloadsOfUser(db).all({ userId })
}

/** The download permissions of a guest's order that were not revoked. Those of an account's order are in the account. */
export function guestDownloadsOf(db: Db, orderId: number) {
  return downloadsOfOrder(db).all({ orderId })
}
