/**
 * The answers of register, login and /me by docs/interface.md 2.1 to 2.4 and docs/contract.md 4.4, typed by hand. The
 * code's own lists cannot confirm themselves. `?` is "or null", `[]` holds the shape of each element, `~` in a name is "may be left out".
 */
export type Shape =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'iso'
  | `${string}?`
  | [Shape]
  | { [name: string]: Shape }

export const user: Shape = {
  id: 'integer',
  email: 'string',
  displayName: 'string',
  roles: ['string'],
  createdAt: 'iso',
  'billingEmail~': 'string',
  'billingPhone~': 'string',
  'companyName~': 'string'
}

export const flags: Shape = {
  isLoggedIn: 'boolean',
  isAdmin: 'boolean',
  hasCommerce: 'boolean',
  hasMembershipsA: 'boolean',
  hasAffiliates: 'boolean',
  hasDownloads: 'boolean',
  hasMembershipsB: 'boolean',
  hasFormsA: 'boolean',
  hasFormsB: 'boolean',
  hasDonations: 'boolean',
  hasActiveMembershipA: 'boolean',
  hasActiveMembershipB: 'boolean',
  hasAnyCompletedStoreOrder: 'boolean',
  hasActiveSubscription: 'boolean',
  hasProAccess: 'boolean',
  isAffiliate: 'boolean',
  isAffiliateApproved: 'boolean',
  hasMembershipB: 'boolean',
  hasCourseEnrollments: 'boolean'
}

const ordersSummary: Shape = { hasAnyCompletedOrder: 'boolean', totalOrders: 'integer', lastOrderAt: 'iso?' }
const donationsSummary: Shape = { hasDonations: 'boolean', totalDonations: 'integer', lastDonationAt: 'iso?' }
const primaryPlan: Shape = {
  planId: 'integer',
  planSlug: 'string',
  planName: 'string',
  module: 'string',
  status: 'string',
  expiresAt: 'iso?'
}
const subscriptionsSummary: Shape = { activeSubscriptionCount: 'integer', totalSubscriptions: 'integer' }
const affiliate: Shape = { id: 'integer?', isActive: 'boolean', status: 'string?' }
const dependencies: Shape = {
  hasCommerce: 'boolean',
  hasMembershipsA: 'boolean',
  hasAffiliates: 'boolean',
  hasCourses: 'boolean',
  hasMembershipsB: 'boolean',
  hasDownloads: 'boolean',
  hasFormsA: 'boolean',
  hasFormsB: 'boolean',
  hasDonations: 'boolean'
}

/** `plan` says whether there is a primary plan, since it is an object or null. */
export function entitlements(plan: boolean): Shape {
  const membershipsSummary: Shape = {
    activeMembershipCount: 'integer',
    totalMemberships: 'integer',
    primaryPlan: plan ? primaryPlan : 'nothing?'
  }
  return {
    flags,
    formsProvider: 'string?',
    ordersSummary,
    orders: [{ id: 'integer', status: 'string', currency: 'string', total: 'number', createdAt: 'iso' }],
    donations: {
      donations: [
        {
          id: 'integer',
          orderId: 'integer?',
          amount: 'number',
          currency: 'string',
          campaign: 'string?',
          createdAt: 'iso'
        }
      ]
    },
    donationsSummary,
    memberships: [
      {
        id: 'integer',
        module: 'string',
        planId: 'integer',
        planSlug: 'string',
        planName: 'string',
        status: 'string',
        startedAt: 'iso',
        expiresAt: 'iso?',
        isPro: 'boolean'
      }
    ],
    membershipsSummary,
    subscriptions: [
      {
        id: 'integer',
        productId: 'integer',
        name: 'string',
        status: 'string',
        interval: 'string',
        currentPeriodEnd: 'iso',
        cancelAtPeriodEnd: 'boolean'
      }
    ],
    subscriptionsSummary,
    affiliate,
    dependencies,
    summaries: {
      orders: ordersSummary,
      donations: donationsSummary,
      memberships: membershipsSummary,
      subscriptions: subscriptionsSummary,
      affiliate,
      dependencies
    }
  }
}

export const roles: Shape = { wpRoles: ['string'], serviceRoles: ['string'] }
export const profile: Shape = { firstName: 'string?', lastName: 'string?' }
export const consent: Shape = { marketingOptIn: 'boolean', termsAcceptedAt: 'iso?', privacyAcceptedAt: 'iso?' }

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Everything in which a value is not of a shape: fields too many, fields missing, fields of another type. */
export function differences(value: unknown, shape: Shape, path = ''): string[] {
  if (typeof shape === 'string') return isOf(value, shape) ? [] : [`${path} is no ${shape}`]
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path} is no list`]
    return value.flatMap((item, index) => differences(item, shape[0], `${path}.${index}`))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is no object`]
  const wanted = new Map(Object.entries(shape).map(([name, of]) => [name.replace('~', ''), { name, of }]))
  const missing = [...wanted].filter(([name, { name: written }]) => !(name in value) && name === written)
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const known = wanted.get(name)
    return known === undefined ? [`${path}.${name} is too many`] : differences(field, known.of, `${path}.${name}`)
  })
  return [...missing.map(([name]) => `${path}.${name} is missing`), ...fields]
}

function isOf(value: unknown, shape: string): boolean {
  if (shape.endsWith('?')) return value === null || isOf(value, shape.slice(0, -1))
  if (shape === 'iso') return typeof value === 'string' && isoTime.test(value)
  if (shape === 'integer') return Number.isSafeInteger(value)
  return typeof value === shape
}
