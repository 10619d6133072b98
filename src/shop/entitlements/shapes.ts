import { z } from 'zod'
import { amount, count, currency, id, time } from '../../platform/public-fields.ts'
import { orderStatus } from '../orders/shapes.ts'
import { donation, membership, primaryPlan, subscription } from '../benefits/shapes.ts'
import { byFlag, flaggedModules, moduleNames } from '../settings/modules.ts'

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

export type Flags = z.infer<typeof flags>

const dependencies = z.object(byFlag(moduleNames, () => flag)).meta({ id: 'Dependencies' })

const ordersSummary = z
  .object({ hasAnyCompletedOrder: z.boolean(), totalOrders: count, lastOrderAt: time.nullable() })
  .meta({ id: 'OrdersSummary' })

const donationsSummary = z
  .object({ hasDonations: z.boolean(), totalDonations: count, lastDonationAt: time.nullable() })
  .meta({ id: 'DonationsSummary' })

const membershipsSummary = z
  .object({ activeMembershipCount: count, totalMemberships: count, primaryPlan: primaryPlan.nullable() })
  .meta({ id: 'MembershipsSummary' })

const subscriptionsSummary = z
  .object({ activeSubscriptionCount: count, totalSubscriptions: count })
  .meta({ id: 'SubscriptionsSummary' })

const affiliateStanding = z
  .object({
    id: z.union([z.int(), z.string()]).nullable().meta({ example: 4 }),
    isActive: z.boolean(),
    status: z.string().nullable().meta({ description: 'pending, active, inactive or rejected.', example: 'active' })
  })
  .meta({ id: 'AffiliateStanding' })

const recentOrder = z
  .object({ id, status: orderStatus.meta({ example: 'completed' }), currency, total: amount, createdAt: time })
  .meta({ id: 'RecentOrder' })

const summaries = z
  .object({
    orders: ordersSummary,
    donations: donationsSummary,
    memberships: membershipsSummary,
    subscriptions: subscriptionsSummary,
    affiliate: affiliateStanding,
    dependencies
  })
  .meta({ id: 'Summaries' })

/** docs/interface.md 2.3, with the elements of docs/contract.md 4.4. */
export const entitlements = z
  .object({
    flags,
    formsProvider: z.string().nullable().meta({ example: 'formsA' }),
    ordersSummary,
    orders: z.array(recentOrder).meta({ description: 'The newest 20.' }),
    donations: z.object({ donations: z.array(donation) }),
    donationsSummary,
    memberships: z.array(membership),
    membershipsSummary,
    subscriptions: z.array(subscription),
    subscriptionsSummary,
    affiliate: affiliateStanding,
    dependencies,
    summaries
  })
  .meta({ id: 'Entitlements' })
export type Entitlements = z.infer<typeof entitlements>
