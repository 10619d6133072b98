import { sqlList } from '../../platform/db/columns.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { acceptedStatuses } from './states.ts'

export type VisitCounts = {
  visits: number
  /** Visits whose referral is accepted, paid out or not. */
  conversions: number
  /** Conversions in percent of visits, with two decimals; 0 without visits. */
  conversionRate: number
  /** Commissions of the conversions after refunds, in minor units. */
  earnedMinor: number
}
export type CampaignCounts = VisitCounts & { campaign: string | null }

type CountRow = { campaign: string | null; visits: number; conversions: number; earnedMinor: number }

const countsByCampaign = rawStatement<[number], CountRow>(
  `SELECT v.campaign, count(*) AS visits, count(r.id) AS conversions, coalesce(sum(r.amount_minor), 0) AS earnedMinor
   FROM visits v LEFT JOIN referrals r ON r.order_id = v.order_id AND r.status IN (${sqlList(acceptedStatuses)})
   WHERE v.affiliate_id = ? GROUP BY v.campaign ORDER BY visits DESC, v.campaign`
)

/** Visits and conversions of an affiliate, in total and by campaign, most visits first. Campaign null: no campaign. */
export function summariseVisits(db: Db, affiliateId: number): { total: VisitCounts; campaigns: CampaignCounts[] } {
  const rows = countsByCampaign(db).all(affiliateId)
  const sum = (pick: (row: CountRow) => number): number => rows.reduce((total, row) => total + pick(row), 0)
  const total = toCounts({
    visits: sum((row) => row.visits),
    conversions: sum((row) => row.conversions),
    earnedMinor: sum((row) => row.earnedMinor)
  })
  return { total, campaigns: rows.map((row) => ({ campaign: row.campaign, ...toCounts(row) })) }
}

function toCounts({ visits, conversions, earnedMinor }: Omit<CountRow, 'campaign'>): VisitCounts {
  const conversionRate = visits === 0 ? 0 : Math.round((conversions * 10_000) / visits) / 100
  return { visits, conversions, conversionRate, earnedMinor }
}
