import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { toDay } from '../../platform/iso-time.ts'
import { findAffiliateOfUser } from '../affiliates/find.ts'
import { requireActiveAffiliate } from '../affiliates/gate.ts'

const dayMs = 86_400_000

/** A sum of commissions in minor units of `currency`, after refunds. */
export type CommissionSum = { currency: string; amountMinor: number }
/** What the links of an affiliate led to: `commissions` has an entry for each currency, sorted by its code. */
export type AffiliateCounts = { clicks: number; orders: number; commissions: CommissionSum[] }
export type AffiliateStats = {
  /** The first and the last day, `YYYY-MM-DD` in UTC. The last day is today, so it is not over. */
  from: string
  to: string
  /** Every day of the period, the earliest first. */
  days: (AffiliateCounts & { day: string })[]
  totals: AffiliateCounts & {
    /** Orders for each hundred clicks, with at most one decimal; 0 without clicks, and at most 100. */
    conversionPercent: number
  }
}

const clicksSince = rawStatement<[affiliateId: number, day: string], { day: string; clicks: number }>(
  'SELECT day, clicks FROM affiliate_clicks WHERE affiliate_id = ? AND day >= ?'
)
const ordersSince = rawStatement<
  [affiliateId: number, createdAt: number],
  { dayNumber: number; currency: string; orders: number; amountMinor: number }
>(
  `SELECT created_at / ${dayMs} AS dayNumber, currency, count(*) AS orders, sum(amount_minor) AS amountMinor
   FROM referrals WHERE affiliate_id = ? AND created_at >= ? AND status IN ('unpaid', 'paid')
   GROUP BY dayNumber, currency ORDER BY currency`
)

/**
 * The clicks, orders and commissions of a user's affiliate account on each of the last `days` days (UTC), today included.
 * An order counts on the day on which it was placed, while its referral is accepted (`unpaid` or `paid`): an unpaid,
 * cancelled or refunded order does not count.
 *
 * @throws AppError as `requireActiveAffiliate`
 */
export function getAffiliateStats(db: Db, userId: number, days: number, now: number): AffiliateStats {
  return readSnapshot(db, () => {
    const affiliate = requireActiveAffiliate(db, findAffiliateOfUser(db, userId))
    return statsOf(db, affiliate.id, days, now)
  })
}

function statsOf(db: Db, affiliateId: number, days: number, now: number): AffiliateStats {
  const today = Math.floor(now / dayMs)
  const first = today - days + 1
  const counts = Array.from({ length: days }, (_, index) => ({
    day: toDay((first + index) * dayMs),
    ...emptyCounts()
  }))
  const byDay = new Map(counts.map((count) => [count.day, count]))
  // After the clock was set back, there may be rows of days that have not come yet.
  for (const { day, clicks } of clicksSince(db).all(affiliateId, toDay(first * dayMs))) {
    const count = byDay.get(day)
    if (count !== undefined) count.clicks = clicks
  }
  for (const { dayNumber, currency, orders, amountMinor } of ordersSince(db).all(affiliateId, first * dayMs)) {
    const count = counts[dayNumber - first]
    if (count === undefined) continue
    count.orders += orders
    count.commissions.push({ currency, amountMinor })
  }
  return { from: toDay(first * dayMs), to: toDay(today * dayMs), days: counts, totals: totalsOf(counts) }
}

function emptyCounts(): AffiliateCounts {
  return { clicks: 0, orders: 0, commissions: [] }
}

function totalsOf(counts: readonly AffiliateCounts[]): AffiliateStats['totals'] {
  const totals = emptyCounts()
  const sums = new Map<string, number>()
  for (const { clicks, orders, commissions } of counts) {
    totals.clicks += clicks
    totals.orders += orders
    for (const { currency, amountMinor } of commissions) sums.set(currency, (sums.get(currency) ?? 0) + amountMinor)
  }
  const currencies = [...sums.keys()].toSorted()
  const commissions = currencies.map((currency) => ({ currency, amountMinor: sums.get(currency) ?? 0 }))
  return { ...totals, commissions, conversionPercent: percentOf(totals) }
}

/** Orders of people who clicked before the period can exceed its clicks. */
function percentOf({ orders, clicks }: AffiliateCounts): number {
  return clicks === 0 ? 0 : Math.min(100, Math.round((orders / clicks) * 1000) / 10)
}
