import { affiliates } from './schema.ts'

export type AffiliateRow = typeof affiliates.$inferSelect
export type AffiliateStatus = AffiliateRow['status']

export const affiliateStatuses = affiliates.status.enumValues
