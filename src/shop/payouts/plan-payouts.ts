import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { isOrderPaid } from '../orders/transition.ts'
import type { ReferralRow } from '../referrals/rows.ts'
import { setting } from '../settings/settings.ts'

/** The amount owed for one referral. Negative for a debt: the order was refunded after the payout. */
export type PayoutLine = Pick<ReferralRow, 'id' | 'affiliateId' | 'orderId' | 'currency' | 'status' | 'acceptedAt'> & {
  owedMinor: number
}

/** What a payout now pays to one affiliate. All amounts are in minor units of `currency`. */
export type PayoutPlan = {
  affiliateId: number
  currency: string
  /** The referrals that the payout includes: those that are due, and debts. */
  lines: PayoutLine[]
  earnedMinor: number
  /** The sum of the debts, zero or negative. */
  setOffMinor: number
  /** Earned, but not due yet, or held because the order is no longer paid. */
  heldMinor: number
  /** earnedMinor + setOffMinor. If it is zero or negative there is no payout, and debts are carried to a later one. */
  amountMinor: number
}

export type PayoutFilter = { affiliateId?: number }

const dayMs = 86_400_000

const openLines = rawStatement<[], PayoutLine>(
  `SELECT r.id, r.affiliate_id AS affiliateId, r.order_id AS orderId, r.currency, r.status, r.accepted_at AS acceptedAt,
          coalesce(s.owed, 0) AS owedMinor
   FROM referrals r LEFT JOIN (
     SELECT referral_id, sum(amount_minor) AS owed FROM commission_entries
     GROUP BY referral_id HAVING sum(amount_minor) <> 0
   ) s ON s.referral_id = r.id
   WHERE r.status = 'unpaid' OR s.owed IS NOT NULL
   ORDER BY r.affiliate_id, r.id`
)

/**
 * Plans the payouts, one for each affiliate and currency; writes nothing. A referral is due `affiliates.payoutHoldDays`
 * after its acceptance, so that most refunds happen before the payout, and while its order is paid and not in dispute.
 */
export function planPayouts(db: Db, now: number, filter: PayoutFilter = {}): PayoutPlan[] {
  const dueBefore = now - setting(db, 'affiliates.payoutHoldDays') * dayMs
  const isHeld = (line: PayoutLine): boolean =>
    line.status === 'unpaid' && ((line.acceptedAt ?? now) > dueBefore || !isOrderPaid(db, line.orderId))
  const lines = openLines(db)
    .all()
    .filter((line) => filter.affiliateId === undefined || line.affiliateId === filter.affiliateId)
  const groups = Map.groupBy(lines, (line) => `${line.affiliateId} ${line.currency}`)
  return [...groups.values()].flatMap((group) => planGroup(group, isHeld))
}

function planGroup(group: readonly PayoutLine[], isHeld: (line: PayoutLine) => boolean): PayoutPlan[] {
  const [first] = group
  if (first === undefined) return []
  const { held = [], due = [] } = Object.groupBy(group, (line) => (isHeld(line) ? 'held' : 'due'))
  const earnedMinor = sumOf(due.filter((line) => line.owedMinor > 0))
  const setOffMinor = sumOf(due.filter((line) => line.owedMinor < 0))
  const { affiliateId, currency } = first
  const amountMinor = earnedMinor + setOffMinor
  return [{ affiliateId, currency, lines: due, earnedMinor, setOffMinor, heldMinor: sumOf(held), amountMinor }]
}

function sumOf(lines: readonly PayoutLine[]): number {
  return lines.reduce((sum, line) => sum + line.owedMinor, 0)
}
