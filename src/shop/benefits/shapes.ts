import { z } from 'zod'
import { amount, currency, id, time } from '../../platform/public-fields.ts'

const membershipStatus = z.enum(['active', 'expired', 'cancelled'])
export type MembershipStatus = z.infer<typeof membershipStatus>
const subscriptionStatus = z.enum(['active', 'past_due', 'cancelled', 'expired'])
export type SubscriptionStatus = z.infer<typeof subscriptionStatus>

export const membership = z
  .object({
    id,
    module: z.enum(['A', 'B']),
    planId: id,
    planSlug: z.string().meta({ example: 'keepers-circle' }),
    planName: z.string().meta({ example: "Keepers' Circle" }),
    status: membershipStatus,
    startedAt: time,
    expiresAt: time.nullable(),
    isPro: z.boolean()
  })
  .meta({ id: 'Membership' })
export type MembershipView = z.infer<typeof membership>

export const primaryPlan = membership
  .pick({ planId: true, planSlug: true, planName: true, module: true, status: true, expiresAt: true })
  .meta({ id: 'PrimaryPlan', description: 'The active membership of the highest rank.' })
export type PlanView = z.infer<typeof primaryPlan>

export const subscription = z
  .object({
    id,
    productId: id,
    name: z.string().meta({ example: 'Tide Letter' }),
    status: subscriptionStatus,
    interval: z.enum(['month', 'year']),
    currentPeriodEnd: time,
    cancelAtPeriodEnd: z.boolean()
  })
  .meta({ id: 'Subscription' })
export type SubscriptionView = z.infer<typeof subscription>

export const donation = z
  .object({
    id,
    orderId: id.nullable(),
    amount,
    currency,
    campaign: z.string().nullable().meta({ example: 'lighthouse-roof' }),
    createdAt: time
  })
  .meta({ id: 'Donation' })
export type DonationView = z.infer<typeof donation>
