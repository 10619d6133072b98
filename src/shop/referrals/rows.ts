import type { commissionEntries, payouts, referrals } from './schema.ts'

export type ReferralRow = typeof referrals.$inferSelect
export type CommissionEntryRow = typeof commissionEntries.$inferSelect
export type PayoutRow = typeof payouts.$inferSelect
