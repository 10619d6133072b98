import { referrals } from './schema.ts'
import type { commissionEntries, payouts } from './schema.ts'

export type ReferralRow = typeof referrals.$inferSelect
export type ReferralStatus = ReferralRow['status']
export type CommissionEntryRow = typeof commissionEntries.$inferSelect
export type PayoutRow = typeof payouts.$inferSelect

export const referralStatuses = referrals.status.enumValues
