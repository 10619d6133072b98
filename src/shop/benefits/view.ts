import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { toMajor } from '../../platform/money.ts'
import type { DonationRecord, MembershipRecord, SubscriptionRecord } from './records.ts'
import { membershipStatus, subscriptionStatus } from './status.ts'
import type { DonationView, MembershipStatus, MembershipView, PlanView, SubscriptionView } from './shapes.ts'

/** A membership as entitlements list it (docs/contract.md 4). */
export function toMembership(record: MembershipRecord, now: number): MembershipView {
  const { id, module, planId, planSlug, planName, isPro } = record
  return {
    id,
    module,
    planId,
    planSlug,
    planName,
    status: statusOf(record, now),
    startedAt: toIso(record.startedAt),
    expiresAt: toIsoOrNull(record.endsAt),
    isPro
  }
}

/** The status of a membership record at `now`. */
export function statusOf(record: MembershipRecord, now: number): MembershipStatus {
  return membershipStatus({ cancelledAt: record.ended ? record.startedAt : null, expiresAt: record.endsAt }, now)
}

/** The active membership with the highest rank; of several, the one that ends last. */
export function toPrimaryPlan(records: readonly MembershipRecord[], now: number): PlanView | null {
  const [first] = records
    .filter((record) => statusOf(record, now) === 'active')
    .sort((a, b) => b.rank - a.rank || endOf(b) - endOf(a) || a.id - b.id)
  if (first === undefined) return null
  const { planId, planSlug, planName, module, status, expiresAt } = toMembership(first, now)
  return { planId, planSlug, planName, module, status, expiresAt }
}

function endOf(record: MembershipRecord): number {
  return record.endsAt ?? Number.MAX_SAFE_INTEGER
}

/** A subscription as entitlements list it (docs/contract.md 4). */
export function toSubscription(record: SubscriptionRecord, now: number): SubscriptionView {
  const { id, productId, name, interval, currentPeriodEnd, cancelAtPeriodEnd } = record
  const status = subscriptionStatus(record, now)
  return { id, productId, name, status, interval, currentPeriodEnd: toIso(currentPeriodEnd), cancelAtPeriodEnd }
}

/** A donation as entitlements list it, in major units. */
export function toDonation(record: DonationRecord): DonationView {
  const { id, orderId, currency, campaign } = record
  const amount = toMajor(record.amountMinor, currency)
  return { id, orderId, amount, currency, campaign, createdAt: toIso(record.createdAt) }
}
