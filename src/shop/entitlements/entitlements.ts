import { toIsoOrNull } from '../../platform/iso-time.ts'
import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import type { UserRow } from '../accounts/rows.ts'
import { toUser } from '../accounts/view.ts'
import type { ConsentView, ProfileView, UserView } from '../accounts/view.ts'
import { isSubscriptionInForce } from '../benefits/status.ts'
import { statusOf, toDonation, toMembership, toPrimaryPlan, toSubscription } from '../benefits/view.ts'
import { byFlag, moduleNames, moduleTable } from '../settings/modules.ts'
import type { Modules } from '../settings/modules.ts'
import { toFlags } from './flags.ts'
import type { Flags } from './flags.ts'
import { visibleHoldings } from './visible-records.ts'
import type { Holdings } from './visible-records.ts'
import { isActiveAffiliate, toRoles, toServiceRoles } from './roles.ts'
import { standingOf } from './standing.ts'

export type Entitlements = ReturnType<typeof toEntitlements>
export type AccountSummary = {
  user: UserView
  roles: { wpRoles: string[]; serviceRoles: string[] }
  flags: Flags
  entitlements: Entitlements
  profile: ProfileView
  consent: ConsentView
}

/**
 * The account in the answers of register, login and /me (docs/interface.md 2.1 to 2.4), from the records at `now`.
 * Expiry is decided by comparing times, so no job has to have run. It takes five statements in one snapshot, however
 * much was bought, and one more if the user has more donations than are listed.
 *
 * @param user null without a user: then only the shop's modules count.
 * @param isLoggedIn whether there is a session; a registration that awaits its verification has none.
 */
export function accountSummary(db: Db, user: UserRow, options: { isLoggedIn: boolean }, now: number): AccountSummary
export function accountSummary(
  db: Db,
  user: UserRow | null,
  options: { isLoggedIn: boolean },
  now: number
): Omit<AccountSummary, 'user'> & { user: UserView | null }
export function accountSummary(db: Db, user: UserRow | null, { isLoggedIn }: { isLoggedIn: boolean }, now: number) {
  const { standing, holdings } = readSnapshot(db, () => {
    const found = standingOf(db, user)
    return { standing: found, holdings: visibleHoldings(db, user?.id ?? null, found) }
  })
  const { isOn, profile, consent } = standing
  const flags = toFlags({ user, isOn, holdings, isLoggedIn }, now)
  const wpRoles = user === null ? [] : toRoles(user, isActiveAffiliate(standing))
  return {
    user: user === null ? null : toUser(user, wpRoles, { billing: true }),
    roles: { wpRoles, serviceRoles: toServiceRoles(flags) },
    flags,
    entitlements: toEntitlements(flags, isOn, holdings, now),
    profile,
    consent
  }
}

function toEntitlements(flags: Flags, isOn: Modules, holdings: Holdings, now: number) {
  const summaries = {
    orders: toOrdersSummary(holdings),
    donations: toDonationsSummary(holdings),
    memberships: toMembershipsSummary(holdings, now),
    subscriptions: toSubscriptionsSummary(holdings, now),
    affiliate: toAffiliate(holdings),
    dependencies: byFlag(moduleNames, isOn)
  }
  return {
    flags,
    formsProvider: moduleNames.find((name) => moduleTable[name].providesForms && isOn(name)) ?? null,
    ordersSummary: summaries.orders,
    orders: holdings.orders,
    donations: { donations: holdings.donations.donations.map(toDonation) },
    donationsSummary: summaries.donations,
    memberships: holdings.memberships.map((record) => toMembership(record, now)),
    membershipsSummary: summaries.memberships,
    subscriptions: holdings.subscriptions.map((record) => toSubscription(record, now)),
    subscriptionsSummary: summaries.subscriptions,
    affiliate: summaries.affiliate,
    dependencies: summaries.dependencies,
    summaries
  }
}

function toOrdersSummary({ orders, totalOrders, hasCompletedOrder }: Holdings) {
  return { hasAnyCompletedOrder: hasCompletedOrder, totalOrders, lastOrderAt: orders[0]?.createdAt ?? null }
}

function toDonationsSummary({ donations: { donations, total } }: Holdings) {
  const [last] = donations
  return {
    hasDonations: total > 0,
    totalDonations: total,
    lastDonationAt: toIsoOrNull(last?.createdAt)
  }
}

function toMembershipsSummary({ memberships }: Holdings, now: number) {
  return {
    activeMembershipCount: memberships.filter((record) => statusOf(record, now) === 'active').length,
    totalMemberships: memberships.length,
    primaryPlan: toPrimaryPlan(memberships, now)
  }
}

function toSubscriptionsSummary({ subscriptions }: Holdings, now: number) {
  return {
    activeSubscriptionCount: subscriptions.filter((record) => isSubscriptionInForce(record, now)).length,
    totalSubscriptions: subscriptions.length
  }
}

function toAffiliate({ affiliate }: Holdings) {
  return { id: affiliate?.id ?? null, isActive: affiliate?.status === 'active', status: affiliate?.status ?? null }
}
