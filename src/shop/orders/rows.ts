import type { orderAttributions, orderItems, orders } from './schema.ts'

export type OrderRow = typeof orders.$inferSelect
export type OrderItemRow = typeof orderItems.$inferSelect
export type OrderAttributionRow = typeof orderAttributions.$inferSelect
