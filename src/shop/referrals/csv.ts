import { stringify } from 'csv-stringify/sync'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { toDecimalText } from '../../platform/money.ts'
import { getUserById } from '../accounts/find.ts'
import type { ReferralFilter } from './admin-view.ts'
import { allReferrals } from './admin-view.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import type { PaidPayout } from './pay-payouts.ts'
import type { PayoutPlan } from './payouts.ts'

/** Payouts, paid or planned, as CSV for a bank or an accountant, one row each. Amounts are in major units. */
export function payoutsCsv(db: Db, payouts: readonly (PaidPayout | { plan: PayoutPlan; payout: null })[]): string {
  const columns = ['payout', 'affiliate', 'name', 'email', 'amount', 'currency', 'referrals', 'reference', 'created_at']
  const rows = payouts.map(({ payout, plan }) => {
    const { code, userId } = getAffiliateById(db, plan.affiliateId)
    const { displayName, email } = getUserById(db, userId)
    const amount = toDecimalText(plan.amountMinor, plan.currency)
    const referrals = plan.lines.filter((line) => line.status === 'unpaid').length
    const payment = [payout?.reference ?? null, toIsoOrNull(payout?.createdAt)]
    return [payout?.id ?? null, code, displayName, email, amount, plan.currency, referrals, ...payment]
  })
  return toCsv(columns, rows)
}

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

/** Escapes cells that start like a formula: users choose names and codes, and a spreadsheet would execute them. */
function toCsv(columns: readonly string[], rows: readonly (string | number | null)[][]): string {
  return stringify([[...columns], ...rows], { escape_formulas: true })
}
