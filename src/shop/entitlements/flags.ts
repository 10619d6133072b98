import type { UserRow } from '../accounts/rows.ts'
import type { MembershipRecord } from '../benefits/records.ts'
import { isSubscriptionInForce } from '../benefits/status.ts'
import { statusOf } from '../benefits/view.ts'
import { byFlag, flaggedModules } from '../settings/modules.ts'
import type { Modules } from '../settings/modules.ts'
import type { Holdings } from './visible-records.ts'

/** docs/interface.md 2.2: which modules the shop has, and what the user's records say at this time. */
export type Flags = ReturnType<typeof toFlags>

/** The flags of docs/interface.md 2.2 for a user at `now`. */
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
    ...byFlag(flaggedModules, isOn),
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
