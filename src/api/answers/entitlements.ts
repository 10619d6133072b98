import { z } from 'zod'
import { amount, count, currency, id, time } from '../../platform/public-fields.ts'
import { orderStatus } from '../../shop/orders/shapes.ts'
import { dependencies, flags } from './flags.ts'

const ordersSummary = z
  .object({ hasAnyCompletedOrder: z.boolean(), totalOrders: count, lastOrderAt: time.nullable() })
  .meta({ id: 'OrdersSummary' })

const donationsSummary = z
  .object({ hasDonations: z.boolean(), totalDonations: count, lastDonationAt: time.nullable() })
  .meta({ id: 'DonationsSummary' })

const membership = z
  .object({
    id,
    module: z.enum(['A', 'B']),
    planId: id,
    planSlug: z.string().meta({ example: 'keepers-circle' }),
    planName: z.string().meta({ example: "Keepers' Circle" }),
    status: z.enum(['active', 'expired', 'cancelled']),
    startedAt: time,
    expiresAt: time.nullable(),
    isPro: z.boolean()
  })
  .meta({ id: 'Membership' })

const primaryPlan = membership
  .pick({ planId: true, planSlug: true, planName: true, module: true, status: true, expiresAt: true })
  .meta({ id: 'PrimaryPlan', description: 'The active membership of the highest rank.' })

const membershipsSummary = z
  .object({ activeMembershipCount: count, totalMemberships: count, primaryPlan: primaryPlan.nullable() })
  .meta({ id: 'MembershipsSummary' })

export const subscription = z
  .object({
    id,
    productId: id,
    name: z.string().meta({ example: 'Tide Letter' }),
    status: z.enum(['active', 'past_due', 'cancelled', 'expired']),
    interval: z.enum(['month', 'year']),
    currentPeriodEnd: time,
    cancelAtPeriodEnd: z.boolean()
  })
  .meta({ id: 'Subscription' })

const subscriptionsSummary = z
  .object({ activeSubscriptionCount: count, totalSubscriptions: count })
  .meta({ id: 'SubscriptionsSummary' })

const donation = z
  .object({
    id,
    orderId: id.nullable(),
    amount,
    currency,
    campaign: z.string().nullable().meta({ example: 'lighthouse-roof' }),
    createdAt: time
  })
  .meta({ id: 'Donation' })

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
