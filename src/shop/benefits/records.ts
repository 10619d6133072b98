import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm'
import { statement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { products } from '../catalog/schema.ts'
import { joinPeriods } from './spans.ts'
import { campaigns, donations, downloadPermissions, enrolments, memberships, plans, subscriptions } from './schema.ts'

const userId = sql.placeholder('userId')
/** What /me lists of a person's donations; its totals count all. */
const donationsListed = 100

const membershipsOfUser = statement((orm) =>
  orm
    .select({
      key: sql<string>`${memberships.planId}`,
      id: memberships.id,
      planId: memberships.planId,
      planSlug: plans.slug,
      planName: plans.name,
      module: plans.module,
      rank: plans.rank,
      isPro: plans.isPro,
      startedAt: memberships.startedAt,
      endsAt: memberships.expiresAt,
      ended: sql<number>`${memberships.cancelledAt} IS NOT NULL`.mapWith(Boolean),
      orderId: memberships.orderId
    })
    .from(memberships)
    .innerJoin(plans, eq(plans.id, memberships.planId))
    .where(eq(memberships.userId, userId))
    .orderBy(asc(memberships.startedAt), asc(memberships.id))
    .prepare()
)

const subscriptionsOfUser = statement((orm) =>
  orm
    .select({
      id: subscriptions.id,
      productId: subscriptions.productId,
      name: products.name,
      interval: subscriptions.interval,
      isPro: subscriptions.isPro,
      startedAt: subscriptions.startedAt,
      currentPeriodEnd: subscriptions.currentPeriodEnd,
      cancelAtPeriodEnd: subscriptions.cancelAtPeriodEnd,
      pastDueSince: subscriptions.pastDueSince,
      cancelledAt: subscriptions.cancelledAt,
      gatewayId: subscriptions.gatewayId,
      orderId: subscriptions.orderId
    })
    .from(subscriptions)
    .innerJoin(products, eq(products.id, subscriptions.productId))
    .where(eq(subscriptions.userId, userId))
    .orderBy(asc(subscriptions.startedAt), asc(subscriptions.id))
    .prepare()
)

const donationsOfUser = statement((orm) =>
  orm
    .select({
      id: donations.id,
      orderId: donations.orderId,
      amountMinor: donations.amountMinor,
      currency: donations.currency,
      campaign: campaigns.slug,
      createdAt: donations.createdAt,
      total: sql<number>`count(*) OVER ()`
    })
    .from(donations)
    .leftJoin(campaigns, eq(campaigns.id, donations.campaignId))
    .where(and(eq(donations.userId, userId), isNull(donations.revokedAt)))
    .orderBy(desc(donations.createdAt), desc(donations.id))
    .limit(donationsListed)
    .prepare()
)

const enrolmentsOfUser = statement((orm) =>
  orm
    .select({
      id: enrolments.id,
      course: enrolments.course,
      startedAt: enrolments.startedAt,
      orderId: enrolments.orderId
    })
    .from(enrolments)
    .where(and(eq(enrolments.userId, userId), isNull(enrolments.revokedAt)))
    .orderBy(asc(enrolments.startedAt), asc(enrolments.id))
    .prepare()
)

const downloadsOfUser = statement((orm) =>
  orm
    .select({
      key: sql<string>`${downloadPermissions.productId} || ' ' || ${downloadPermissions.file}`,
      id: downloadPermissions.id,
      productId: downloadPermissions.productId,
      file: downloadPermissions.file,
      startedAt: downloadPermissions.startedAt,
      endsAt: downloadPermissions.expiresAt,
      orderId: downloadPermissions.orderId
    })
    .from(downloadPermissions)
    .where(and(eq(downloadPermissions.userId, userId), isNull(downloadPermissions.revokedAt)))
    .orderBy(asc(downloadPermissions.startedAt), asc(downloadPermissions.id))
    .prepare()
)

/** Every membership, the latest first; periods on end are one. Whether one is active, `membershipStatus` says. */
export function membershipsOf(db: Db, userId: number) {
  return joinPeriods(membershipsOfUser(db).all({ userId })).reverse()
}
export type MembershipRecord = ReturnType<typeof membershipsOf>[number]

/** Every subscription, the latest first; fixed terms of one product on end are one. */
export function subscriptionsOf(db: Db, userId: number) {
  const periods = subscriptionsOfUser(db)
    .all({ userId })
    .map((row) => ({ ...row, key: termKey(row), endsAt: row.currentPeriodEnd, ended: row.cancelledAt !== null }))
  return joinPeriods(periods)
    .map((period) => ({ ...period, currentPeriodEnd: period.endsAt }))
    .reverse()
}
export type SubscriptionRecord = ReturnType<typeof subscriptionsOf>[number]

/** What Stripe renews stands for itself. */
function termKey(row: {
  id: number
  gatewayId: string | null
  productId: number
  interval: string
  isPro: boolean
}): string {
  return row.gatewayId === null ? `${row.productId} ${row.interval} ${row.isPro}` : `#${row.id}`
}

/** The newest hundred that were not given back, and how many there are. */
export function donationsOf(db: Db, userId: number) {
  const rows = donationsOfUser(db).all({ userId })
  return { donations: rows, total: rows[0]?.total ?? 0 }
}
export type DonationRecord = ReturnType<typeof donationsOf>['donations'][number]

/** Courses that a person is enrolled in. */
export function enrolmentsOf(db: Db, userId: number) {
  return enrolmentsOfUser(db).all({ userId })
}

/** Download permissions that were not taken back, whether or not they have begun or expired, each period for itself. */
export function downloadsOf(db: Db, userId: number) {
  return downloadsOfUser(db).all({ userId })
}
