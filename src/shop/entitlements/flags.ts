import type { UserRow } from '../accounts/rows.ts'
import type { MembershipRecord } from '../benefits/records.ts'
import { isSubscriptionInForce } from '../benefits/status.ts'
import { statusOf } from '../benefits/view.ts'
import { byFlag, flaggedModules } from '../settings/modules.ts'
import type { Modules } from '../settings/modules.ts'
import type { Flags } from './shapes.ts'
import type { VisibleRecords } from './visible-records.ts'

/** The flags of a user at `now`, from the user's records and the shop's modules. */
export function toFlags(
  of: { user: UserRow | null; isOn: Modules; records: VisibleRecords; isLoggedIn: boolean },
  now: number
): Flags {
  const { user, isOn, records, isLoggedIn } = of
  const active = records.memberships.filter((membership) => statusOf(membership, now) === 'active')
  const inForce = records.subscriptions.filter((subscription) => isSubscriptionInForce(subscription, now))
  return {
    isLoggedIn,
    isAdmin: user?.isAdmin ?? false,
    ...byFlag(flaggedModules, isOn),
    hasActiveMembershipA: active.some(isOfModule('A')),
    hasActiveMembershipB: active.some(isOfModule('B')),
    hasAnyCompletedStoreOrder: records.hasCompletedOrder,
    hasActiveSubscription: inForce.length > 0,
    hasProAccess: [...active, ...inForce].some(({ isPro }) => isPro),
    isAffiliate: records.affiliate !== null,
    isAffiliateApproved: records.affiliate?.status === 'active',
    hasMembershipB: records.memberships.some(isOfModule('B')),
    hasCourseEnrollments: records.isEnrolled
  }
}

function isOfModule(module: 'A' | 'B') {
  return (membership: MembershipRecord) => membership.module === module
}
