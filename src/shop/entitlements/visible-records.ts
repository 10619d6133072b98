import type { Db } from '../../platform/db/database.ts'
import { donationsOf, membershipsOf, subscriptionsOf } from '../benefits/records.ts'
import type { DonationRecord, MembershipRecord, SubscriptionRecord } from '../benefits/records.ts'
import { newestOrders } from '../orders/view.ts'
import type { NewestOrder } from '../orders/view.ts'
import type { AccountState } from './account-state.ts'

/** The number of orders that entitlements list. Their total counts all orders. */
const ordersListed = 20

/** A person's records, without those of modules that are off, which are hidden and not deleted. */
export type VisibleRecords = {
  orders: NewestOrder[]
  totalOrders: number
  hasCompletedOrder: boolean
  memberships: MembershipRecord[]
  subscriptions: SubscriptionRecord[]
  donations: { donations: DonationRecord[]; total: number }
  isEnrolled: boolean
  affiliate: AccountState['affiliate']
}

const nothing: VisibleRecords = {
  orders: [],
  totalOrders: 0,
  hasCompletedOrder: false,
  memberships: [],
  subscriptions: [],
  donations: { donations: [], total: 0 },
  isEnrolled: false,
  affiliate: null
}

/**
 * Reads a person's visible records with at most four statements. Orders and subscriptions belong to the commerce
 * module, memberships to the module of their plan, and donations, enrolments and the affiliate account to theirs.
 */
export function visibleRecords(db: Db, userId: number | null, account: AccountState): VisibleRecords {
  if (userId === null) return nothing
  const { isOn } = account
  const hasStore = isOn('commerce')
  return {
    orders: hasStore ? newestOrders(db, userId, ordersListed) : nothing.orders,
    totalOrders: hasStore ? account.totalOrders : nothing.totalOrders,
    hasCompletedOrder: hasStore && account.hasCompletedOrder,
    subscriptions: hasStore ? subscriptionsOf(db, userId) : nothing.subscriptions,
    memberships: membershipsOf(db, userId).filter(({ module }) => isOn(`memberships${module}`)),
    donations: isOn('donations') ? donationsOf(db, userId) : nothing.donations,
    isEnrolled: isOn('courses') && account.isEnrolled,
    affiliate: isOn('affiliates') ? account.affiliate : null
  }
}
