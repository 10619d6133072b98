import { toIsoOrNull } from '../../platform/iso-time.ts'
import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import type { UserRow } from '../accounts/rows.ts'
import { toUser } from '../accounts/view.ts'
import type { ConsentView, ProfileView, UserView } from '../accounts/shapes.ts'
import { isSubscriptionInForce } from '../benefits/status.ts'
import { statusOf, toDonation, toMembership, toPrimaryPlan, toSubscription } from '../benefits/view.ts'
import { byFlag, moduleNames, moduleTable } from '../settings/modules.ts'
import type { Modules } from '../settings/modules.ts'
import { toFlags } from './flags.ts'
import type { Entitlements, Flags } from './shapes.ts'
import { visibleRecords } from './visible-records.ts'
import type { VisibleRecords } from './visible-records.ts'
import { isActiveAffiliate, toRoles, toServiceRoles } from './roles.ts'
import { accountStateOf } from './account-state.ts'

export type AccountSummary = {
  user: UserView
  roles: { wpRoles: string[]; serviceRoles: string[] }
  flags: Flags
  entitlements: Entitlements
  profile: ProfileView
  consent: ConsentView
}

/**
 * The account in the responses of register, login and /me (docs/interface.md 2.1 to 2.4) at `now`. Expiry depends only
 * on times, not on a job. It runs five statements in one snapshot, regardless of the number of orders, and one more if
 * the user has more donations than are listed.
 *
 * @param user null without a user; then only the shop's modules matter
 * @param isLoggedIn whether there is a session; a registration that waits for its verification has none
 */
export function accountSummary(db: Db, user: UserRow, options: { isLoggedIn: boolean }, now: number): AccountSummary
export function accountSummary(
  db: Db,
  user: UserRow | null,
  options: { isLoggedIn: boolean },
  now: number
): Omit<AccountSummary, 'user'> & { user: UserView | null }
export function accountSummary(db: Db, user: UserRow | null, { isLoggedIn }: { isLoggedIn: boolean }, now: number) {
  const { account, records } = readSnapshot(db, () => {
    const found = accountStateOf(db, user)
    return { account: found, records: visibleRecords(db, user?.id ?? null, found) }
  })
  const { isOn, profile, consent } = account
  const flags = toFlags({ user, isOn, records, isLoggedIn }, now)
  const wpRoles = user === null ? [] : toRoles(user, isActiveAffiliate(account))
  return {
    user: user === null ? null : toUser(user, wpRoles, { billing: true }),
    roles: { wpRoles, serviceRoles: toServiceRoles(flags) },
    flags,
    entitlements: toEntitlements(flags, isOn, records, now),
    profile,
    consent
  }
}

function toEntitlements(flags: Flags, isOn: Modules, records: VisibleRecords, now: number): Entitlements {
  const summaries = {
    orders: toOrdersSummary(records),
    donations: toDonationsSummary(records),
    memberships: toMembershipsSummary(records, now),
    subscriptions: toSubscriptionsSummary(records, now),
    affiliate: toAffiliate(records),
    dependencies: byFlag(moduleNames, isOn)
  }
  return {
    flags,
    formsProvider: moduleNames.find((name) => moduleTable[name].providesForms && isOn(name)) ?? null,
    ordersSummary: summaries.orders,
    orders: records.orders,
    donations: { donations: records.donations.donations.map(toDonation) },
    donationsSummary: summaries.donations,
    memberships: records.memberships.map((record) => toMembership(record, now)),
    membershipsSummary: summaries.memberships,
    subscriptions: records.subscriptions.map((record) => toSubscription(record, now)),
    subscriptionsSummary: summaries.subscriptions,
    affiliate: summaries.affiliate,
    dependencies: summaries.dependencies,
    summaries
  }
}

function toOrdersSummary({ orders, totalOrders, hasCompletedOrder }: VisibleRecords) {
  return { hasAnyCompletedOrder: hasCompletedOrder, totalOrders, lastOrderAt: orders[0]?.createdAt ?? null }
}

function toDonationsSummary({ donations: { donations, total } }: VisibleRecords) {
  const [last] = donations
  return {
    hasDonations: total > 0,
    totalDonations: total,
    lastDonationAt: toIsoOrNull(last?.createdAt)
  }
}

function toMembershipsSummary({ memberships }: VisibleRecords, now: number) {
  return {
    activeMembershipCount: memberships.filter((record) => statusOf(record, now) === 'active').length,
    totalMemberships: memberships.length,
    primaryPlan: toPrimaryPlan(memberships, now)
  }
}

function toSubscriptionsSummary({ subscriptions }: VisibleRecords, now: number) {
  return {
    activeSubscriptionCount: subscriptions.filter((record) => isSubscriptionInForce(record, now)).length,
    totalSubscriptions: subscriptions.length
  }
}

function toAffiliate({ affiliate }: VisibleRecords) {
  return { id: affiliate?.id ?? null, isActive: affiliate?.status === 'active', status: affiliate?.status ?? null }
}
