import type { donations, gatewaySubscriptions, memberships, plans, subscriptions } from './schema.ts'

export type PlanRow = typeof plans.$inferSelect
export type MembershipRow = typeof memberships.$inferSelect
export type SubscriptionRow = typeof subscriptions.$inferSelect
export type GatewaySubscriptionRow = typeof gatewaySubscriptions.$inferSelect
export type DonationRow = typeof donations.$inferSelect

/**
 * The order and line that gave a benefit; nulls for an operator's grant. A benefit that its order revokes keeps the
 * order and loses the line, so that the line can be given again. A benefit that ended in another way keeps its line.
 */
export type Source = { orderId: number | null; orderItemId: number | null }
export const byHand: Source = { orderId: null, orderItemId: null }
