import type { donations, gatewaySubscriptions, memberships, plans, subscriptions } from './schema.ts'

export type PlanRow = typeof plans.$inferSelect
export type MembershipRow = typeof memberships.$inferSelect
export type SubscriptionRow = typeof subscriptions.$inferSelect
export type GatewaySubscriptionRow = typeof gatewaySubscriptions.$inferSelect
export type DonationRow = typeof donations.$inferSelect

/**
 * The order's line that a benefit was given for; nulls for an operator's grant. A benefit that its order takes back keeps the
 * order but loses the line, so that "was this line given?" stays true for one that ended in any other way.
 */
export type Source = { orderId: number | null; orderItemId: number | null }
export const byHand: Source = { orderId: null, orderItemId: null }
