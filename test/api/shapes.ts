import { expect } from 'vitest'

// Typed by hand from the interface, so that no list of the code can vouch for itself.

export const standardMeta = ['correlationId', 'correlation_id', 'request_id', 'timestamp']

export const flagNames = [
  'isLoggedIn',
  'isAdmin',
  'hasCommerce',
  'hasMembershipsA',
  'hasAffiliates',
  'hasDownloads',
  'hasMembershipsB',
  'hasFormsA',
  'hasFormsB',
  'hasDonations',
  'hasActiveMembershipA',
  'hasActiveMembershipB',
  'hasAnyCompletedStoreOrder',
  'hasActiveSubscription',
  'hasProAccess',
  'isAffiliate',
  'isAffiliateApproved',
  'hasMembershipB',
  'hasCourseEnrollments'
]

const dependencies = [
  'hasCommerce',
  'hasMembershipsA',
  'hasAffiliates',
  'hasCourses',
  'hasMembershipsB',
  'hasDownloads',
  'hasFormsA',
  'hasFormsB',
  'hasDonations'
]

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const isoTime: unknown = expect.stringMatching(iso)
export const uuid: unknown = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)

type Anything = Record<string, unknown>

/** The names of an object, in the order of the alphabet. */
export function names(of: unknown): string[] {
  return Object.keys(of as Anything).toSorted()
}

export function expectNames(of: unknown, expected: readonly string[]): void {
  expect(names(of)).toEqual([...expected].toSorted())
}

/** Someone who has just come: the flags and entitlements of an account without any record, all modules on. */
export function freshFlags(isLoggedIn: boolean): Record<string, boolean> {
  return {
    isLoggedIn,
    isAdmin: false,
    hasCommerce: true,
    hasMembershipsA: true,
    hasAffiliates: true,
    hasDownloads: true,
    hasMembershipsB: true,
    hasFormsA: true,
    hasFormsB: true,
    hasDonations: true,
    hasActiveMembershipA: false,
    hasActiveMembershipB: false,
    hasAnyCompletedStoreOrder: false,
    hasActiveSubscription: false,
    hasProAccess: false,
    isAffiliate: false,
    isAffiliateApproved: false,
    hasMembershipB: false,
    hasCourseEnrollments: false
  }
}

export function freshEntitlements(isLoggedIn: boolean): Anything {
  const summaries = {
    orders: { hasAnyCompletedOrder: false, totalOrders: 0, lastOrderAt: null },
    donations: { hasDonations: false, totalDonations: 0, lastDonationAt: null },
    memberships: { activeMembershipCount: 0, totalMemberships: 0, primaryPlan: null },
    subscriptions: { activeSubscriptionCount: 0, totalSubscriptions: 0 },
    affiliate: { id: null, isActive: false, status: null },
    dependencies: Object.fromEntries(dependencies.map((name) => [name, true]))
  }
  return {
    flags: freshFlags(isLoggedIn),
    formsProvider: 'formsA',
    ordersSummary: summaries.orders,
    orders: [],
    donations: { donations: [] },
    donationsSummary: summaries.donations,
    memberships: [],
    membershipsSummary: summaries.memberships,
    subscriptions: [],
    subscriptionsSummary: summaries.subscriptions,
    affiliate: summaries.affiliate,
    dependencies: summaries.dependencies,
    summaries
  }
}
