import { sqlList } from '../../platform/db/columns.ts'
import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { toDay } from '../../platform/iso-time.ts'
import { findAffiliateOfUser } from '../affiliates/find.ts'
import { requireActiveAffiliate } from '../affiliates/gate.ts'
import { acceptedStatuses } from './states.ts'

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
  [affiliateId: number, firstDay: number],
  { dayNumber: number; currency: string; orders: number; amountMinor: number }
>(
  `SELECT day AS dayNumber, currency, sum(orders) AS orders, sum(amount_minor) AS amountMinor
   FROM referral_totals WHERE affiliate_id = ? AND day >= ? AND orders > 0 AND status IN (${sqlList(acceptedStatuses)})
   GROUP BY day, currency ORDER BY currency`
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

/** What the links of one affiliate led to in one currency; the clicks are in the affiliate's first row. */
export type AffiliateResult = { code: string; currency: string; clicks: number; orders: number; amountMinor: number }

const clicksWithin = rawStatement<{ from: string; to: string }, { id: number; clicks: number }>(
  `SELECT affiliate_id AS id, sum(clicks) AS clicks FROM affiliate_clicks
   WHERE day BETWEEN @from AND @to GROUP BY affiliate_id`
)
const ordersWithin = rawStatement<
  { firstDay: number; lastDay: number },
  { id: number; currency: string; orders: number; amountMinor: number }
>(
  `SELECT affiliate_id AS id, currency, sum(orders) AS orders, sum(amount_minor) AS amountMinor FROM referral_totals
   WHERE day BETWEEN @firstDay AND @lastDay AND orders > 0 AND status IN (${sqlList(acceptedStatuses)})
   GROUP BY affiliate_id, currency`
)
const codes = rawStatement<[], { id: number; code: string }>('SELECT id, code FROM affiliates')

/**
 * What the links of all affiliates led to in some days (YYYY-MM-DD in UTC, both included), as in `getAffiliateStats`: a
 * row for each affiliate and currency, the highest commission first. Affiliates without clicks and orders have none.
 *
 * @param currency of the row of an affiliate without orders
 */
export function affiliateResults(
  db: Db,
  { from, to, currency }: { from: string; to: string; currency: string }
): AffiliateResult[] {
  return readSnapshot(db, () => {
    const dayNumbers = { firstDay: Date.parse(from) / dayMs, lastDay: Date.parse(to) / dayMs }
    const codeOf = new Map(
      codes(db)
        .all()
        .map(({ id, code }) => [id, code])
    )
    const clicks = new Map(
      clicksWithin(db)
        .all({ from, to })
        .map((row) => [row.id, row.clicks])
    )
    const sold = ordersWithin(db).all(dayNumbers).toSorted(byCommission)
    const found = new Set(sold.map(({ id }) => id))
    const unsold = [...clicks.keys()].filter((id) => !found.has(id))
    const rows = [...sold, ...unsold.map((id) => ({ id, currency, orders: 0, amountMinor: 0 }))]
    return rows
      .map(({ id, ...row }) => {
        const taken = clicks.get(id) ?? 0
        clicks.delete(id)
        return { code: codeOf.get(id) ?? '', ...row, clicks: taken }
      })
      .toSorted((a, b) => byCommission(a, b) || b.clicks - a.clicks)
  })
}

type Earned = Pick<AffiliateResult, 'orders' | 'amountMinor'>

function byCommission(a: Earned, b: Earned): number {
  return b.amountMinor - a.amountMinor || b.orders - a.orders
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
  for (const { dayNumber, currency, orders, amountMinor } of ordersSince(db).all(affiliateId, first)) {
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
  return { ...totals, commissions, conversionPercent: conversionPercent(totals) }
}

/**
 * Orders for each hundred clicks, with at most one decimal; 0 without clicks. At most 100, because orders of people who
 * clicked before the period can exceed its clicks.
 */
export function conversionPercent({ orders, clicks }: Pick<AffiliateCounts, 'clicks' | 'orders'>): number {
  return clicks === 0 ? 0 : Math.min(100, Math.round((orders / clicks) * 1000) / 10)
}
