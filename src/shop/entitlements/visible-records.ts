import type { Db } from '../../platform/db/database.ts'
import { donationsOf, membershipsOf, subscriptionsOf } from '../benefits/records.ts'
import type { DonationRecord, MembershipRecord, SubscriptionRecord } from '../benefits/records.ts'
import { newestOrders } from '../orders/summary.ts'
import type { NewestOrder } from '../orders/summary.ts'
import type { Standing } from './standing.ts'

/** How many orders entitlements list; their total counts all. */
const ordersListed = 20

/** A person's own records, without those of modules that are off: these are hidden, not deleted. */
export type Holdings = {
  orders: NewestOrder[]
  totalOrders: number
  hasCompletedOrder: boolean
  memberships: MembershipRecord[]
  subscriptions: SubscriptionRecord[]
  donations: { donations: DonationRecord[]; total: number }
  isEnrolled: boolean
  affiliate: Standing['affiliate']
}

const nothing: Holdings = {
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
 * Orders and subscriptions are commerce's, memberships their own module's by the plan, donations, enrolments and the
 * affiliate account those modules'. Four statements at most.
 */
export function visibleHoldings(db: Db, userId: number | null, standing: Standing): Holdings {
  if (userId === null) return nothing
  const { isOn } = standing
  const hasStore = isOn('commerce')
  return {
    orders: hasStore ? newestOrders(db, userId, ordersListed) : nothing.orders,
    totalOrders: hasStore ? standing.totalOrders : nothing.totalOrders,
    hasCompletedOrder: hasStore && standing.hasCompletedOrder,
    subscriptions: hasStore ? subscriptionsOf(db, userId) : nothing.subscriptions,
    memberships: membershipsOf(db, userId).filter(({ module }) => isOn(`memberships${module}`)),
    donations: isOn('donations') ? donationsOf(db, userId) : nothing.donations,
    isEnrolled: isOn('courses') && standing.isEnrolled,
    affiliate: isOn('affiliates') ? standing.affiliate : null
  }
}
