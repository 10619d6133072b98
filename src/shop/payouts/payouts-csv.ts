import type { Db } from '../../platform/db/database.ts'
import { toIsoOrNull } from '../../platform/iso-time.ts'
import { toDecimalText } from '../../platform/money.ts'
import { getUserById } from '../accounts/find.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { toCsv } from '../../platform/csv.ts'
import type { PayoutRow } from '../referrals/rows.ts'
import type { PayoutPlan } from './plan-payouts.ts'

/** Payouts, paid or planned, as CSV for a bank or an accountant, one row each. Amounts are in major units. */
export function payoutsCsv(db: Db, payouts: readonly { plan: PayoutPlan; payout: PayoutRow | null }[]): string {
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
