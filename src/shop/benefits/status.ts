import type { MembershipRow, SubscriptionRow } from './rows.ts'
import type { MembershipStatus, SubscriptionStatus } from './shapes.ts'

/**
 * Stripe leaves a renewal's invoice in draft for about an hour before it charges (docs.stripe.com/billing/invoices). A
 * subscription that Stripe renews stays active in this time, otherwise every subscriber would lose access once a
 * period.
 */
export const renewalGraceMs = 2 * 60 * 60 * 1000

/** The status of a membership at `now`. It depends only on times, not on a job. */
export function membershipStatus(row: Pick<MembershipRow, 'cancelledAt' | 'expiresAt'>, now: number): MembershipStatus {
  if (row.cancelledAt !== null) return 'cancelled'
  return row.expiresAt !== null && row.expiresAt <= now ? 'expired' : 'active'
}

type SubscriptionTimes = Pick<
  SubscriptionRow,
  'cancelledAt' | 'cancelAtPeriodEnd' | 'pastDueSince' | 'currentPeriodEnd' | 'gatewayId'
>

/** Whether the order of a subscription is on hold, such as during a dispute. */
type Stopped = { isStopped?: boolean }

/**
 * The status of a subscription at `now`; past_due while its order is on hold. With cancelAtPeriodEnd it is `cancelled` after its period, otherwise
 * `expired`.
 */
export function subscriptionStatus(row: SubscriptionTimes & Stopped, now: number): SubscriptionStatus {
  if (row.cancelledAt !== null) return 'cancelled'
  if (row.pastDueSince !== null || row.isStopped === true) return 'past_due'
  if (row.cancelAtPeriodEnd && row.currentPeriodEnd <= now) return 'cancelled'
  return row.currentPeriodEnd + (row.gatewayId === null ? 0 : renewalGraceMs) <= now ? 'expired' : 'active'
}

/**
 * Whether a subscription gives access at `now`: it is active, or it was cancelled and its paid period has not ended, or
 * its renewal has failed and the paid period ended less than `graceMs` ago (the setting subscriptions.graceDays). While its
 * order is on hold, it gives none.
 */
export function isSubscriptionInForce(row: SubscriptionTimes & Stopped & { graceMs: number }, now: number): boolean {
  if (row.isStopped === true) return false
  const inForce: Record<SubscriptionStatus, boolean> = {
    active: true,
    past_due: row.currentPeriodEnd + row.graceMs > now,
    cancelled: row.currentPeriodEnd > now,
    expired: false
  }
  return inForce[subscriptionStatus(row, now)]
}
