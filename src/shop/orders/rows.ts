import type { orderAttributions, orderCoupons, orderHistory, orderItems, orders } from './schema.ts'

export type OrderRow = typeof orders.$inferSelect
export type OrderItemRow = typeof orderItems.$inferSelect
export type OrderCouponRow = typeof orderCoupons.$inferSelect
export type OrderAttributionRow = typeof orderAttributions.$inferSelect
export type OrderHistoryRow = typeof orderHistory.$inferSelect
