import { z } from 'zod'
import { byFlag, flaggedModules, moduleNames } from '../../shop/settings/modules.ts'

const flag = z.boolean()

/** docs/interface.md 2.2. */
export const flags = z
  .object({
    isLoggedIn: flag,
    isAdmin: flag,
    ...byFlag(flaggedModules, () => flag),
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
    description: "The shop's modules (hasCommerce and similar flags), and facts about the user."
  })

export const dependencies = z.object(byFlag(moduleNames, () => flag)).meta({ id: 'Dependencies' })
