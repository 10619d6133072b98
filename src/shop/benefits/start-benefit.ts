import { and, eq, gt, isNull, max } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import type { GrantSpec } from '../catalog/schema.ts'
import { emit } from '../outbox/emit.ts'
import { addDays, addInterval, addPeriod } from './period.ts'
import { ensureCampaign, ensurePlan } from './plans.ts'
import type {
  DonationRow,
  DownloadRow,
  EnrolmentRow,
  GatewaySubscriptionRow,
  MembershipRow,
  Source,
  SubscriptionRow
} from './rows.ts'
import { donations, downloadPermissions, enrolments, memberships, subscriptions } from './schema.ts'
import { findRenewed } from './subscriptions.ts'

/**
 * To whom, what for, and how often: a quantity of three gives three periods on end.
 *
 * What is bought again while it runs becomes a row of its own that begins where the last one ends, so that a refund can
 * take back exactly its own part; readers see the rows on end as one (spans.ts). What has no end is never extended.
 */
export type Recipient = { userId: number; quantity: number; source: Source }

type Spec<Kind extends GrantSpec['kind']> = Omit<Extract<GrantSpec, { kind: Kind }>, 'kind'>

/** Writes `membership.started`. */
export function startMembership(tx: Tx, to: Recipient, spec: Spec<'membership'>, now: number): MembershipRow {
  const { userId, quantity, source } = to
  const plan = ensurePlan(tx, spec.plan, spec.module)
  const startedAt = spec.period === null ? now : membershipEnd(tx, userId, plan.id, now)
  const expiresAt = spec.period === null ? null : addPeriod(startedAt, spec.period, quantity)
  const row = tx.orm
    .insert(memberships)
    .values({ userId, planId: plan.id, startedAt, expiresAt, ...source })
    .returning()
    .get()
  emit(tx, 'membership.started', { membershipId: row.id, userId, plan: plan.slug }, now)
  return row
}

function membershipEnd(tx: Tx, userId: number, planId: number, now: number): number {
  const running = tx.orm
    .select({ end: max(memberships.expiresAt) })
    .from(memberships)
    .where(
      and(
        eq(memberships.userId, userId),
        eq(memberships.planId, planId),
        isNull(memberships.cancelledAt),
        gt(memberships.expiresAt, now)
      )
    )
    .get()
  return running?.end ?? now
}

/**
 * Starts a fixed term; payments hands it to Stripe's care with `linkSubscription`. What Stripe renews for its order
 * already, which was a guest's or on hold when it was paid, starts with the period that is paid there. Writes
 * `subscription.started`.
 */
export function startSubscription(
  tx: Tx,
  to: Recipient & { productId: number },
  spec: Spec<'subscription'>,
  now: number
): SubscriptionRow {
  const { userId, productId, quantity, source } = to
  const renewed = findRenewed(tx, source.orderId)
  const startedAt = subscriptionEnd(tx, { userId, productId, ...spec }, now)
  const fixed = { startedAt, currentPeriodEnd: addInterval(startedAt, spec.interval, quantity) }
  const term = renewed === undefined ? fixed : termOf(renewed, now)
  const row = tx.orm
    .insert(subscriptions)
    .values({ userId, productId, interval: spec.interval, isPro: spec.pro, ...term, ...source })
    .returning()
    .get()
  emit(tx, 'subscription.started', { subscriptionId: row.id, userId }, now)
  return row
}

/** What Stripe has ended is paid to its date, and renewed by nobody. */
function termOf({ gatewayId, currentPeriodEnd, endedAt }: GatewaySubscriptionRow, now: number) {
  const startedAt = Math.min(now, currentPeriodEnd)
  return { startedAt, currentPeriodEnd, gatewayId: endedAt === null ? gatewayId : null }
}

/** Only fixed terms of the same kind are extended: what Stripe renews has no end that is known. */
function subscriptionEnd(
  tx: Tx,
  of: { userId: number; productId: number; interval: 'month' | 'year'; pro: boolean },
  now: number
): number {
  const running = tx.orm
    .select({ end: max(subscriptions.currentPeriodEnd) })
    .from(subscriptions)
    .where(
      and(
        eq(subscriptions.userId, of.userId),
        eq(subscriptions.productId, of.productId),
        eq(subscriptions.interval, of.interval),
        eq(subscriptions.isPro, of.pro),
        isNull(subscriptions.gatewayId),
        isNull(subscriptions.cancelledAt),
        gt(subscriptions.currentPeriodEnd, now)
      )
    )
    .get()
  return running?.end ?? now
}

export function startEnrolment(tx: Tx, to: Recipient, spec: Spec<'course'>, now: number): EnrolmentRow {
  return tx.orm
    .insert(enrolments)
    .values({ userId: to.userId, course: spec.course, startedAt: now, ...to.source })
    .returning()
    .get()
}

export function startDownload(
  tx: Tx,
  to: Recipient & { productId: number },
  spec: Spec<'download'>,
  now: number
): DownloadRow {
  const { userId, productId, quantity, source } = to
  const startedAt = spec.days === null ? now : downloadEnd(tx, { userId, productId, file: spec.file }, now)
  const expiresAt = spec.days === null ? null : addDays(startedAt, spec.days, quantity)
  return tx.orm
    .insert(downloadPermissions)
    .values({ userId, productId, file: spec.file, startedAt, expiresAt, ...source })
    .returning()
    .get()
}

function downloadEnd(tx: Tx, of: { userId: number; productId: number; file: string }, now: number): number {
  const running = tx.orm
    .select({ end: max(downloadPermissions.expiresAt) })
    .from(downloadPermissions)
    .where(
      and(
        eq(downloadPermissions.userId, of.userId),
        eq(downloadPermissions.productId, of.productId),
        eq(downloadPermissions.file, of.file),
        isNull(downloadPermissions.revokedAt),
        gt(downloadPermissions.expiresAt, now)
      )
    )
    .get()
  return running?.end ?? now
}

/** Writes `donation.received`; the quantity is in the amount already. */
export function startDonation(
  tx: Tx,
  to: Recipient & { amountMinor: number; currency: string },
  spec: Spec<'donation'>,
  now: number
): DonationRow {
  const { userId, amountMinor, currency, source } = to
  const campaignId = spec.campaign === null ? null : ensureCampaign(tx, spec.campaign)
  const row = tx.orm
    .insert(donations)
    .values({ userId, campaignId, amountMinor, currency, createdAt: now, ...source })
    .returning()
    .get()
  emit(tx, 'donation.received', { donationId: row.id, orderId: source.orderId, amountMinor, currency }, now)
  return row
}
