import type { ReferralRow } from './rows.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { setting } from '../settings/settings.ts'

/** What is owed for one referral, or, below zero, owed back: it was paid out, and its order refunded after. */
export type PayoutLine = Pick<ReferralRow, 'id' | 'affiliateId' | 'orderId' | 'currency' | 'status' | 'acceptedAt'> & {
  owedMinor: number
}

/** What one affiliate would be paid now; all amounts in minor units of `currency`. */
export type PayoutPlan = {
  affiliateId: number
  currency: string
  /** What a payout settles: referrals that are due, and debts of earlier ones. */
  lines: PayoutLine[]
  earnedMinor: number
  /** Debts, zero or below. */
  setOffMinor: number
  /** Earned, but not due yet. */
  heldMinor: number
  /** earnedMinor + setOffMinor. Zero or below is not paid; debts are carried to a later payout. */
  amountMinor: number
}

export type PayoutFilter = {
  affiliateId?: number
  /** Whether an order is still paid and undisputed; what belongs to another is held. Orders stand above affiliates. */
  isOrderPaid?: (orderId: number) => boolean
}

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
 * The dry run: for each affiliate and currency what a payout now would settle. A referral is due when it was accepted
 * `affiliates.payoutHoldDays` ago, so that most refunds happen before money leaves. Reads only.
 */
export function planPayouts(db: Db, now: number, filter: PayoutFilter = {}): PayoutPlan[] {
  const dueBefore = now - setting(db, 'affiliates.payoutHoldDays') * dayMs
  const isHeld = (line: PayoutLine): boolean =>
    line.status === 'unpaid' && ((line.acceptedAt ?? now) > dueBefore || filter.isOrderPaid?.(line.orderId) === false)
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
