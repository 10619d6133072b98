import type { MembershipRow, SubscriptionRow } from './rows.ts'

export type MembershipStatus = 'active' | 'expired' | 'cancelled'
export type SubscriptionStatus = 'active' | 'past_due' | 'cancelled' | 'expired'

/**
 * Stripe leaves a renewal's invoice in draft for about an hour before it charges (docs.stripe.com/billing/invoices), so
 * what Stripe renews stays active over that gap: otherwise every subscriber would be locked out once a period.
 */
export const renewalGraceMs = 2 * 60 * 60 * 1000

/** Decided by comparing times alone, so that no job has to have run. */
export function membershipStatus(row: Pick<MembershipRow, 'cancelledAt' | 'expiresAt'>, now: number): MembershipStatus {
  if (row.cancelledAt !== null) return 'cancelled'
  return row.expiresAt !== null && row.expiresAt <= now ? 'expired' : 'active'
}

type SubscriptionTimes = Pick<
  SubscriptionRow,
  'cancelledAt' | 'cancelAtPeriodEnd' | 'pastDueSince' | 'currentPeriodEnd' | 'gatewayId'
>

/** `active` with cancelAtPeriodEnd becomes `cancelled` when its period is over; `expired` is a term that nobody renewed. */
export function subscriptionStatus(row: SubscriptionTimes, now: number): SubscriptionStatus {
  if (row.cancelledAt !== null) return 'cancelled'
  if (row.pastDueSince !== null) return 'past_due'
  if (row.cancelAtPeriodEnd && row.currentPeriodEnd <= now) return 'cancelled'
  return row.currentPeriodEnd + (row.gatewayId === null ? 0 : renewalGraceMs) <= now ? 'expired' : 'active'
}

/**
 * Whether it gives its holder access now: it is active, it was cancelled but is paid to a later date, or its renewal has
 * failed and the paid period ended less than `graceMs` (the setting subscriptions.graceDays) ago.
 */
export function isSubscriptionInForce(row: SubscriptionTimes & { graceMs: number }, now: number): boolean {
  const inForce: Record<SubscriptionStatus, boolean> = {
    active: true,
    past_due: row.currentPeriodEnd + row.graceMs > now,
    cancelled: row.currentPeriodEnd > now,
    expired: false
  }
  return inForce[subscriptionStatus(row, now)]
}
