import type { AffiliateCounts, AffiliateStats } from './shapes.ts'
import { and, between, eq, gt, gte, inArray, sql, sum } from 'drizzle-orm'
import { readSnapshot, statement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { addDays } from '../../platform/days.ts'
import { shopDay } from '../settings/shop-days.ts'
import { findAffiliateOfUser } from '../affiliates/find.ts'
import { requireActiveAffiliate } from '../affiliates/gate.ts'
import { affiliateClicks, affiliates } from '../affiliates/schema.ts'
import { referralTotals } from './schema.ts'
import { acceptedStatuses } from './states.ts'

const { placeholder } = sql
const clicksSince = statement((orm) =>
  orm
    .select({ day: affiliateClicks.day, campaign: affiliateClicks.campaign, clicks: affiliateClicks.clicks })
    .from(affiliateClicks)
    .where(
      and(
        eq(affiliateClicks.affiliateId, placeholder('affiliateId')),
        gte(affiliateClicks.day, placeholder('firstDay'))
      )
    )
    .prepare()
)
const isSold = and(gt(referralTotals.orders, 0), inArray(referralTotals.status, acceptedStatuses))
const sold = {
  currency: referralTotals.currency,
  orders: sum(referralTotals.orders).mapWith(Number),
  amountMinor: sum(referralTotals.amountMinor).mapWith(Number)
}
const ordersSince = statement((orm) =>
  orm
    .select({ day: referralTotals.day, ...sold })
    .from(referralTotals)
    .where(
      and(
        eq(referralTotals.affiliateId, placeholder('affiliateId')),
        gte(referralTotals.day, placeholder('firstDay')),
        isSold
      )
    )
    .groupBy(referralTotals.day, referralTotals.currency)
    .orderBy(referralTotals.currency)
    .prepare()
)

/**
 * The clicks, orders and commissions of a user's affiliate account on each of the last `days` days of the shop, today included.
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

/**
 * What the links of all affiliates led to in some days (YYYY-MM-DD, both included), as in `getAffiliateStats`: a
 * row for each affiliate and currency, the highest commission first. Affiliates without clicks and orders have none.
 *
 * @param currency of the row of an affiliate without orders
 */
export function affiliateResults(
  db: Db,
  { from, to, currency }: { from: string; to: string; currency: string }
): AffiliateResult[] {
  return readSnapshot(db, () => {
    const codeOf = new Map(
      db.orm
        .select({ id: affiliates.id, code: affiliates.code })
        .from(affiliates)
        .all()
        .map(({ id, code }) => [id, code])
    )
    const clicks = new Map(clicksWithin(db, from, to).map((row) => [row.id, row.clicks]))
    const orders = ordersWithin(db, from, to).toSorted(byCommission)
    const found = new Set(orders.map(({ id }) => id))
    const unsold = [...clicks.keys()].filter((id) => !found.has(id))
    const rows = [...orders, ...unsold.map((id) => ({ id, currency, orders: 0, amountMinor: 0 }))]
    return rows
      .map(({ id, ...row }) => {
        const taken = clicks.get(id) ?? 0
        clicks.delete(id)
        return { code: codeOf.get(id) ?? '', ...row, clicks: taken }
      })
      .toSorted((a, b) => byCommission(a, b) || b.clicks - a.clicks)
  })
}

function clicksWithin(db: Db, from: string, to: string) {
  return db.orm
    .select({ id: affiliateClicks.affiliateId, clicks: sum(affiliateClicks.clicks).mapWith(Number) })
    .from(affiliateClicks)
    .where(between(affiliateClicks.day, from, to))
    .groupBy(affiliateClicks.affiliateId)
    .all()
}

function ordersWithin(db: Db, firstDay: string, lastDay: string) {
  return db.orm
    .select({ id: referralTotals.affiliateId, ...sold })
    .from(referralTotals)
    .where(and(between(referralTotals.day, firstDay, lastDay), isSold))
    .groupBy(referralTotals.affiliateId, referralTotals.currency)
    .all()
}

type Earned = Pick<AffiliateResult, 'orders' | 'amountMinor'>

function byCommission(a: Earned, b: Earned): number {
  return b.amountMinor - a.amountMinor || b.orders - a.orders
}

function statsOf(db: Db, affiliateId: number, days: number, now: number): AffiliateStats {
  const to = shopDay(db, now)
  const from = addDays(to, 1 - days)
  const counts = Array.from({ length: days }, (_, index) => ({ day: addDays(from, index), ...emptyCounts() }))
  const byDay = new Map(counts.map((count) => [count.day, count]))
  // After the clock was set back, there may be rows of days that have not come yet.
  const campaigns = new Map<string, number>()
  for (const { day, campaign, clicks } of clicksSince(db).all({ affiliateId, firstDay: from })) {
    const count = byDay.get(day)
    if (count === undefined) continue
    count.clicks += clicks
    campaigns.set(campaign, (campaigns.get(campaign) ?? 0) + clicks)
  }
  for (const { day, currency, orders, amountMinor } of ordersSince(db).all({ affiliateId, firstDay: from })) {
    const count = byDay.get(day)
    if (count === undefined) continue
    count.orders += orders
    count.commissions.push({ currency, amountMinor })
  }
  return { from, to, days: counts, totals: totalsOf(counts), campaigns: topCampaigns(campaigns) }
}

/** The campaigns with the most clicks; links without one are one of them. */
function topCampaigns(clicks: ReadonlyMap<string, number>): AffiliateStats['campaigns'] {
  return [...clicks]
    .map(([campaign, clicks]) => ({ campaign: campaign === '' ? null : campaign, clicks }))
    .toSorted((a, b) => b.clicks - a.clicks || (a.campaign ?? '').localeCompare(b.campaign ?? ''))
    .slice(0, 50)
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
