import type { UserRow } from '../accounts/rows.ts'
import type { MembershipRecord } from '../benefits/records.ts'
import { isSubscriptionInForce } from '../benefits/status.ts'
import { statusOf } from '../benefits/view.ts'
import type { Holdings } from './visible-records.ts'
import type { Modules } from './standing.ts'

/** docs/interface.md 2.2: which modules the shop has, and what the user's records say at this time. */
export type Flags = ReturnType<typeof toFlags>

export function toFlags(
  of: { user: UserRow | null; isOn: Modules; holdings: Holdings; isLoggedIn: boolean },
  now: number
) {
  const { user, isOn, holdings, isLoggedIn } = of
  const active = holdings.memberships.filter((membership) => statusOf(membership, now) === 'active')
  const inForce = holdings.subscriptions.filter((subscription) => isSubscriptionInForce(subscription, now))
  return {
    isLoggedIn,
    isAdmin: user?.isAdmin ?? false,
    hasCommerce: isOn('commerce'),
    hasMembershipsA: isOn('membershipsA'),
    hasAffiliates: isOn('affiliates'),
    hasDownloads: isOn('downloads'),
    hasMembershipsB: isOn('membershipsB'),
    hasFormsA: isOn('formsA'),
    hasFormsB: isOn('formsB'),
    hasDonations: isOn('donations'),
    hasActiveMembershipA: active.some(isOfModule('A')),
    hasActiveMembershipB: active.some(isOfModule('B')),
    hasAnyCompletedStoreOrder: holdings.hasCompletedOrder,
    hasActiveSubscription: inForce.length > 0,
    hasProAccess: [...active, ...inForce].some(({ isPro }) => isPro),
    isAffiliate: holdings.affiliate !== null,
    isAffiliateApproved: holdings.affiliate?.status === 'active',
    hasMembershipB: holdings.memberships.some(isOfModule('B')),
    hasCourseEnrollments: holdings.isEnrolled
  }
}

function isOfModule(module: 'A' | 'B') {
  return (membership: MembershipRecord) => membership.module === module
}
