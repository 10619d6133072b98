import { z } from 'zod'

const flag = z.boolean()

/** docs/interface.md 2.2. */
export const flags = z
  .object({
    isLoggedIn: flag,
    isAdmin: flag,
    hasCommerce: flag,
    hasMembershipsA: flag,
    hasAffiliates: flag,
    hasDownloads: flag,
    hasMembershipsB: flag,
    hasFormsA: flag,
    hasFormsB: flag,
    hasDonations: flag,
    hasActiveMembershipA: flag,
    hasActiveMembershipB: flag,
    hasAnyCompletedStoreOrder: flag,
    hasActiveSubscription: flag,
    hasProAccess: flag,
    isAffiliate: flag,
    isAffiliateApproved: flag,
    hasMembershipB: flag,
    hasCourseEnrollments: flag
  })
  .meta({
    id: 'Flags',
    description: "Which modules the shop has (hasCommerce and the like), and what the user's own records say."
  })

export const dependencies = z
  .object({
    hasCommerce: flag,
    hasMembershipsA: flag,
    hasAffiliates: flag,
    hasCourses: flag,
    hasMembershipsB: flag,
    hasDownloads: flag,
    hasFormsA: flag,
    hasFormsB: flag,
    hasDonations: flag
  })
  .meta({ id: 'Dependencies' })
