import { toReferral } from './list.ts'
import type { Balance, ReferralView } from './shapes.ts'
import type { CommissionEntryRow, ReferralRow } from './store.ts'
import { referrals } from './schema.ts'
import { and, asc, count, desc, eq, gt, inArray, sql, sum } from 'drizzle-orm'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { getReferral } from './store.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { entriesOf, balanceOf } from './ledger.ts'
import { linesOf } from './lines.ts'
import type { ReferralLineRow } from './lines.ts'
import { couponsOfAffiliate } from '../affiliates/coupons.ts'
import { affiliateClicks, affiliates, visits } from '../affiliates/schema.ts'
import { toCsv, toCsvRows } from '../../platform/csv.ts'
import type { CsvCell } from '../../platform/csv.ts'
import { toDecimalText } from '../../platform/money.ts'
import { getUserById } from '../accounts/find.ts'
import type { AffiliateRow } from '../affiliates/find.ts'
import { findOwnRate, listRates, percentOrNull } from '../affiliates/rates.ts'
import type { RateView } from '../affiliates/rates.ts'
import { toAffiliate } from '../affiliates/view.ts'
import type { AffiliateView } from '../affiliates/view.ts'
import { acceptedStatuses } from './states.ts'
import type { ReviewReason } from './states.ts'

/** A referral as operators see it (docs/contract.md A8). */
export type AdminReferral = ReferralView & {
  affiliateCode: string
  orderId: number
  visitId: number
  /** Why an operator decides about it. */
  review?: ReviewReason[]
}
export type ReferralFilter = { affiliateId?: number; status?: ReferralRow['status'] }

/** The newest referrals, newest first, of the shop or of one affiliate or status. */
export function listAdminReferrals(db: Db, filter: ReferralFilter & { limit: number }): AdminReferral[] {
  const rows = selection(db, filter).orderBy(desc(referrals.id)).limit(filter.limit).all()
  return rows.map(({ referral, affiliateCode }) => toAdminReferral(referral, affiliateCode))
}

/** A referral with its affiliate's code and its campaign. */
export type ExportedReferral = { referral: ReferralRow; affiliateCode: string; campaign: string | null }

/**
 * All matching referrals, oldest first. They are read while they are used.
 *
 * @param view what the list shows of some hundred referrals at once
 */
export function allReferrals<T>(
  db: Db,
  filter: ReferralFilter,
  view: (rows: ExportedReferral[]) => readonly T[]
): Iterable<T> {
  const next = (last: ExportedReferral | undefined, limit: number): ExportedReferral[] =>
    selection(db, filter, last?.referral.id).orderBy(asc(referrals.id)).limit(limit).all()
  return inParts(db, next, view)
}

function selection(db: Db, filter: ReferralFilter, afterId?: number) {
  const conditions = [
    afterId === undefined ? undefined : gt(referrals.id, afterId),
    filter.affiliateId === undefined ? undefined : eq(referrals.affiliateId, filter.affiliateId),
    filter.status === undefined ? undefined : eq(referrals.status, filter.status)
  ]
  return db.orm
    .select({ referral: referrals, affiliateCode: affiliates.code, campaign: visits.campaign })
    .from(referrals)
    .innerJoin(affiliates, eq(affiliates.id, referrals.affiliateId))
    .innerJoin(visits, eq(visits.id, referrals.visitId))
    .where(and(...conditions))
    .$dynamic()
}

/**
 * One referral with its rate (null if its lines have several), the commission of its lines, its decision and its ledger
 * entries, oldest first.
 *
 * @throws AppError NOT_FOUND
 */
export function showReferral(db: Db, id: number) {
  const row = getReferral(db, id)
  const { code } = getAffiliateById(db, row.affiliateId)
  return {
    referral: {
      ...toAdminReferral(row, code),
      rate: percentOrNull(row.rateBps),
      acceptedAt: toIsoOrNull(row.acceptedAt),
      rejectedFor: row.rejectedFor
    },
    lines: linesOf(db, id).map(toLine),
    entries: entriesOf(db, id).map(toEntry)
  }
}

/** A referral for operators; see `AdminReferral`. */
export function toAdminReferral(row: ReferralRow, affiliateCode: string): AdminReferral {
  const { id, ...rest } = toReferral(row)
  const review = row.review === null ? {} : { review: row.review }
  return { id, affiliateCode, orderId: row.orderId, visitId: row.visitId, ...rest, ...review }
}

function toLine({ orderItemId, baseMinor, rateBps, source, rateId, commissionMinor, takenBackMinor }: ReferralLineRow) {
  return { orderItemId, baseMinor, rate: rateBps / 100, source, rateId, commissionMinor, takenBackMinor }
}

function toEntry({ kind, amountMinor, currency, reason, payoutId, at }: CommissionEntryRow) {
  return { kind, amountMinor, currency, reason, payoutId, at: toIso(at) }
}

const columns: Record<string, (row: ExportedReferral) => CsvCell> = {
  referral: ({ referral }) => referral.id,
  affiliate: ({ affiliateCode }) => affiliateCode,
  order: ({ referral }) => referral.orderId,
  visit: ({ referral }) => referral.visitId,
  campaign: ({ campaign }) => campaign,
  status: ({ referral }) => referral.status,
  amount: ({ referral }) => toDecimalText(referral.amountMinor, referral.currency),
  currency: ({ referral }) => referral.currency,
  rate_percent: ({ referral }) => percentOrNull(referral.rateBps),
  rejected_for: ({ referral }) => referral.rejectedFor,
  created_at: ({ referral }) => toIso(referral.createdAt),
  accepted_at: ({ referral }) => toIsoOrNull(referral.acceptedAt)
}

/**
 * Referrals as CSV, one row each, oldest first. Amounts are in major units.
 *
 * @param onRows learns how many rows a part has
 * @returns the head, and parts of some hundred rows, which are read while they are used
 */
export function* referralsCsv(
  db: Db,
  filter: ReferralFilter,
  onRows: (count: number) => void = () => undefined
): Generator<string, void> {
  yield toCsv(Object.keys(columns), [])
  yield* allReferrals(db, filter, (rows) => {
    onRows(rows.length)
    return rows.length === 0 ? [] : [toCsvRows(rows.map((row) => Object.values(columns).map((cell) => cell(row))))]
  })
}

/** An affiliate as operators see it. */
export type AdminAffiliate = AffiliateView & {
  userId: number
  email: string
  displayName: string
  /** Percent; null when the shop's rate applies. */
  ownRate: number | null
  website: string | null
  message: string | null
  createdAt: string
}

/** An affiliate for operators, with name and email of the account. */
export function toAdminAffiliate(db: Db, affiliate: AffiliateRow, now: number): AdminAffiliate {
  const { email, displayName } = getUserById(db, affiliate.userId)
  const { userId, website, message, createdAt } = affiliate
  return {
    ...toAffiliate(db, affiliate, now),
    userId,
    email,
    displayName,
    ownRate: percentOrNull(findOwnRate(db, affiliate.id, now)?.rateBps ?? null),
    website,
    message,
    createdAt: toIso(createdAt)
  }
}

/** One affiliate with the balance, the coupons, and the visits and conversions in total and by campaign. */
export function showAffiliate(
  db: Db,
  affiliate: AffiliateRow,
  now: number
): {
  affiliate: AdminAffiliate
  balance: Balance
  visits: VisitCounts
  campaigns: CampaignCounts[]
  /** The codes of the affiliate's coupons that are not disabled. */
  coupons: string[]
  /** The rates of the affiliate that are in force or planned. */
  rates: RateView[]
} {
  const { total, campaigns } = summariseVisits(db, affiliate.id)
  const balance = balanceOf(db, affiliate.id)
  const coupons = couponsOfAffiliate(db, affiliate.id).flatMap(({ code, enabled }) => (enabled ? [code] : []))
  const rates = listRates(db, { affiliateId: affiliate.id }, now)
  return { affiliate: toAdminAffiliate(db, affiliate, now), balance, visits: total, campaigns, coupons, rates }
}

export type VisitCounts = {
  visits: number
  /** Visits whose referral is accepted, paid out or not. */
  conversions: number
  /** Conversions in percent of visits, with two decimals; 0 without visits. */
  conversionRate: number
  /** Commissions of the conversions after refunds, in minor units. */
  earnedMinor: number
}
export type CampaignCounts = VisitCounts & {
  campaign: string | null
  /** How often its links were opened. */
  clicks: number
}

type CountRow = { campaign: string | null; visits: number; conversions: number; earnedMinor: number }

function countByCampaign(db: Db, affiliateId: number): CountRow[] {
  return db.orm
    .select({
      campaign: visits.campaign,
      visits: count(),
      conversions: count(referrals.id),
      earnedMinor: sql`coalesce(${sum(referrals.amountMinor)}, 0)`.mapWith(Number)
    })
    .from(visits)
    .leftJoin(referrals, and(eq(referrals.orderId, visits.orderId), inArray(referrals.status, acceptedStatuses)))
    .where(eq(visits.affiliateId, affiliateId))
    .groupBy(visits.campaign)
    .orderBy(desc(count()), visits.campaign)
    .all()
}

function clicksByCampaign(db: Db, affiliateId: number): Map<string | null, number> {
  const { campaign, clicks } = affiliateClicks
  const rows = db.orm
    .select({ campaign, clicks: sum(clicks).mapWith(Number) })
    .from(affiliateClicks)
    .where(eq(affiliateClicks.affiliateId, affiliateId))
    .groupBy(campaign)
    .orderBy(desc(sum(clicks)), campaign)
    .all()
  return new Map(rows.map((row) => [row.campaign === '' ? null : row.campaign, row.clicks]))
}

/**
 * Visits and conversions of an affiliate, in total, and with the clicks by campaign: most visits first, then the campaigns
 * that have clicks only. Campaign null: no campaign.
 */
export function summariseVisits(db: Db, affiliateId: number): { total: VisitCounts; campaigns: CampaignCounts[] } {
  const rows = countByCampaign(db, affiliateId)
  const sum = (pick: (row: CountRow) => number): number => rows.reduce((total, row) => total + pick(row), 0)
  const total = toCounts({
    visits: sum((row) => row.visits),
    conversions: sum((row) => row.conversions),
    earnedMinor: sum((row) => row.earnedMinor)
  })
  const clicks = clicksByCampaign(db, affiliateId)
  const visited = new Set(rows.map(({ campaign }) => campaign))
  const nothing = { visits: 0, conversions: 0, earnedMinor: 0 }
  const unsold = [...clicks.keys()].filter((campaign) => !visited.has(campaign))
  const all = [...rows, ...unsold.map((campaign) => ({ campaign, ...nothing }))]
  const campaigns = all.map((row) => ({
    campaign: row.campaign,
    clicks: clicks.get(row.campaign) ?? 0,
    ...toCounts(row)
  }))
  return { total, campaigns }
}

function toCounts({ visits, conversions, earnedMinor }: Omit<CountRow, 'campaign'>): VisitCounts {
  const conversionRate = visits === 0 ? 0 : Math.round((conversions * 10_000) / visits) / 100
  return { visits, conversions, conversionRate, earnedMinor }
}
