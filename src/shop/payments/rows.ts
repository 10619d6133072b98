import type { paymentAttempts, refunds } from './schema.ts'

export type AttemptRow = typeof paymentAttempts.$inferSelect
export type RefundRow = typeof refunds.$inferSelect
