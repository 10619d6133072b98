import { toCsv } from '../../platform/csv.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { toDecimalText } from '../../platform/money.ts'
import type { ReferralFilter } from './admin-view.ts'
import { allReferrals } from './admin-view.ts'

/** Referrals as CSV, one row each, oldest first. Amounts are in major units. */
export function referralsCsv(db: Db, filter: ReferralFilter): string {
  const columns = [
    'referral',
    'affiliate',
    'order',
    'visit',
    'campaign',
    'status',
    'amount',
    'currency',
    'rate_percent',
    'rejected_for',
    'created_at',
    'accepted_at'
  ]
  const rows = allReferrals(db, filter).map(({ referral, affiliateCode, campaign }) => [
    referral.id,
    affiliateCode,
    referral.orderId,
    referral.visitId,
    campaign,
    referral.status,
    toDecimalText(referral.amountMinor, referral.currency),
    referral.currency,
    referral.rateBps / 100,
    referral.rejectedFor,
    toIso(referral.createdAt),
    toIsoOrNull(referral.acceptedAt)
  ])
  return toCsv(columns, rows)
}
