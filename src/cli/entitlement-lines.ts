import type { Entitlements } from '../shop/entitlements/entitlements.ts'

/** What a person is entitled to, for the operator's eye: a line for each thing held, and one that says when nothing is. */
export function entitlementLines(entitlements: Entitlements): string[] {
  const { ordersSummary, donationsSummary, memberships, subscriptions, affiliate, flags } = entitlements
  const held = [
    ...memberships.map(
      ({ planName, module, status, expiresAt }) =>
        `Membership ${planName} (module ${module}): ${status}, ${expiresAt === null ? 'for life' : `to ${expiresAt}`}`
    ),
    ...subscriptions.map(
      ({ name, status, interval, currentPeriodEnd, cancelAtPeriodEnd }) =>
        `Subscription ${name}: ${status}, a ${interval} at a time, ${cancelAtPeriodEnd ? 'ends' : 'paid to'} ${currentPeriodEnd}`
    ),
    ...(donationsSummary.hasDonations ? [`Donations: ${donationsSummary.totalDonations}`] : []),
    ...(affiliate.status === null ? [] : [`Affiliate ${affiliate.id ?? ''}: ${affiliate.status}`]),
    ...(flags.hasCourseEnrollments ? ['Enrolled in courses'] : []),
    ...(flags.hasProAccess ? ['Has pro access'] : [])
  ]
  const orders = `Orders: ${ordersSummary.totalOrders}${ordersSummary.lastOrderAt === null ? '' : `, the last ${ordersSummary.lastOrderAt}`}`
  return [orders, ...(held.length === 0 ? ['Holds no benefits.'] : held)]
}
