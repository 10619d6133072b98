import type { User } from './session.ts'

export type AccountRow = {
  affiliateId: number | null
  affiliateStatus: string | null
  firstName: string | null
  lastName: string | null
  termsAcceptedAt: number | null
  privacyAcceptedAt: number | null
  totalOrders: number | null
  hasCompletedOrder: number
  isEnrolled: number
}
export type Order = { id: number; status: string; currency: string; totalMinor: number; createdAt: number }
export type Membership = {
  id: number
  module: string
  planId: number
  planSlug: string
  planName: string
  isPro: number
  startedAt: number
  expiresAt: number
}
export type Subscription = { id: number; productId: number; name: string; interval: string; currentPeriodEnd: number }
export type Donation = {
  id: number
  orderId: number | null
  amountMinor: number
  currency: string
  campaign: string
  createdAt: number
}
export type UserRecords = {
  orders: readonly Order[]
  memberships: readonly Membership[]
  subscriptions: readonly Subscription[]
  donations: readonly Donation[]
}

const iso = (epochMs: number | null): string | null => (epochMs === null ? null : new Date(epochMs).toISOString())

/** The data of GET /me for a user, assuming that all modules are enabled and no benefit has expired. */
export function meView(user: User, account: AccountRow, records: UserRecords): object {
  const orders = records.orders.map(orderView)
  const flags = flagsOf(account, records)
  const isAffiliate = flags.isAffiliateApproved
  const wpRoles = isAffiliate ? ['customer', 'affiliate'] : ['customer']
  const { id, email, displayName, billingEmail } = user
  return {
    user: { id, email, displayName, roles: wpRoles, createdAt: iso(user.createdAt), billingEmail },
    roles: { wpRoles, serviceRoles: isAffiliate ? ['member', 'pro', 'affiliate'] : ['member', 'pro'] },
    flags,
    entitlements: entitlementsOf(account, records, { flags, orders }),
    profile: { firstName: account.firstName, lastName: account.lastName },
    consent: {
      marketingOptIn: false,
      termsAcceptedAt: iso(account.termsAcceptedAt),
      privacyAcceptedAt: iso(account.privacyAcceptedAt)
    }
  }
}

type Flags = ReturnType<typeof flagsOf>

function flagsOf(account: AccountRow, { memberships, subscriptions }: UserRecords) {
  const hasMembershipB = memberships.some(({ module }) => module === 'B')
  return {
    isLoggedIn: true,
    isAdmin: false,
    hasCommerce: true,
    hasMembershipsA: true,
    hasAffiliates: true,
    hasDownloads: true,
    hasMembershipsB: true,
    hasFormsA: true,
    hasFormsB: true,
    hasDonations: true,
    hasActiveMembershipA: memberships.some(({ module }) => module === 'A'),
    hasActiveMembershipB: hasMembershipB,
    hasAnyCompletedStoreOrder: account.hasCompletedOrder === 1,
    hasActiveSubscription: subscriptions.length > 0,
    hasProAccess: memberships.some(({ isPro }) => isPro === 1),
    isAffiliate: account.affiliateId !== null,
    isAffiliateApproved: account.affiliateStatus === 'active',
    hasMembershipB,
    hasCourseEnrollments: account.isEnrolled === 1
  }
}

type SharedViews = { flags: Flags; orders: readonly { createdAt: string | null }[] }

function entitlementsOf(account: AccountRow, records: UserRecords, { flags, orders }: SharedViews) {
  const memberships = records.memberships.map(membershipView)
  const subscriptions = records.subscriptions.map(subscriptionView)
  const donations = records.donations.map(donationView)
  const summaries = {
    orders: {
      hasAnyCompletedOrder: flags.hasAnyCompletedStoreOrder,
      totalOrders: account.totalOrders ?? 0,
      lastOrderAt: orders[0]?.createdAt ?? null
    },
    donations: {
      hasDonations: donations.length > 0,
      totalDonations: donations.length,
      lastDonationAt: donations[0]?.createdAt ?? null
    },
    memberships: {
      activeMembershipCount: memberships.length,
      totalMemberships: memberships.length,
      primaryPlan: primaryPlan(memberships)
    },
    subscriptions: { activeSubscriptionCount: subscriptions.length, totalSubscriptions: subscriptions.length },
    affiliate: {
      id: account.affiliateId,
      isActive: flags.isAffiliateApproved,
      status: account.affiliateStatus
    },
    dependencies
  }
  return {
    flags,
    formsProvider: 'formsA',
    ordersSummary: summaries.orders,
    orders,
    donations: { donations },
    donationsSummary: summaries.donations,
    memberships,
    membershipsSummary: summaries.memberships,
    subscriptions,
    subscriptionsSummary: summaries.subscriptions,
    affiliate: summaries.affiliate,
    dependencies,
    summaries
  }
}

const dependencies = {
  hasCommerce: true,
  hasMembershipsA: true,
  hasAffiliates: true,
  hasCourses: true,
  hasMembershipsB: true,
  hasDownloads: true,
  hasFormsA: true,
  hasFormsB: true,
  hasDonations: true
}

function orderView({ id, status, currency, totalMinor, createdAt }: Order) {
  return { id, status, currency, total: totalMinor / 100, createdAt: iso(createdAt) }
}

function membershipView(row: Membership) {
  return {
    id: row.id,
    module: row.module,
    planId: row.planId,
    planSlug: row.planSlug,
    planName: row.planName,
    status: 'active',
    startedAt: iso(row.startedAt),
    expiresAt: iso(row.expiresAt),
    isPro: row.isPro === 1
  }
}

function primaryPlan([first]: readonly ReturnType<typeof membershipView>[]): object | null {
  if (first === undefined) return null
  const { planId, planSlug, planName, module, status, expiresAt } = first
  return { planId, planSlug, planName, module, status, expiresAt }
}

function subscriptionView({ id, productId, name, interval, currentPeriodEnd: end }: Subscription) {
  const currentPeriodEnd = iso(end)
  return { id, productId, name, status: 'active', interval, currentPeriodEnd, cancelAtPeriodEnd: false }
}

function donationView({ id, orderId, amountMinor, currency, campaign, createdAt }: Donation) {
  return { id, orderId, amount: amountMinor / 100, currency, campaign, createdAt: iso(createdAt) }
}
