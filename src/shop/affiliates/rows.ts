import type { affiliates, commissionEntries, payouts, referrals } from './schema.ts'

export type AffiliateRow = typeof affiliates.$inferSelect
export type AffiliateStatus = AffiliateRow['status']
export type ReferralRow = typeof referrals.$inferSelect
export type ReferralStatus = ReferralRow['status']
export type CommissionEntryRow = typeof commissionEntries.$inferSelect
export type PayoutRow = typeof payouts.$inferSelect
