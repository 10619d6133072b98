import { isCurrency } from '../../../platform/money.ts'
import { isRecord } from '../../../platform/typed.ts'
import { setting } from '../../../shop/settings/settings.ts'
import { writeAffiliate, writePayout, writeReferral } from '../affiliates.ts'
import type { AffiliateRecord, PayoutRecord, ReferralRecord } from '../affiliates.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'
import type { Row, WordPress } from './database.ts'
import { idsOf, minorOf, php, scalar, text, utc } from './values.ts'

/** Whether AffiliateWP is, or was, in the WordPress. */
export function hasAffiliateWp(source: WordPress): boolean {
  return source.has('affiliate_wp_affiliates') && source.has('affiliate_wp_referrals')
}

/** Moves AffiliateWP's affiliates in, with their rates and the clicks on their links. */
export async function* moveAffiliates(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  const settings = php((await source.option('affwp_settings')) ?? '')
  const usualRate = isRecord(settings) ? scalar(settings['referral_rate']) : ''
  for await (const rows of source.parts(
    'SELECT a.*, a.affiliate_id AS id FROM {affiliate_wp_affiliates} a WHERE a.affiliate_id > ?'
  )) {
    const clicks = await source.rows(
      `SELECT affiliate_id, DATE(date) AS day, count(*) AS clicks FROM {affiliate_wp_visits}
       WHERE affiliate_id IN (?) GROUP BY affiliate_id, DATE(date)`,
      [idsOf(rows)]
    )
    const byAffiliate = Map.groupBy(clicks, (row) => text(row, 'affiliate_id'))
    await writeInBatches(move, rows, (tx, row) => {
      const own = byAffiliate.get(text(row, 'id')) ?? []
      writeAffiliate(tx, toAffiliate(tx, { row, usualRate, clicks: own }, move), move, tally)
    })
    yield
  }
}

type Affiliate = { row: Row; usualRate: string; clicks: readonly Row[] }

function toAffiliate(tx: Tx, { row, usualRate, clicks }: Affiliate, move: Move): AffiliateRecord {
  const rateBps = rateOf(row, usualRate)
  return {
    id: text(row, 'id'),
    userId: move.moved.find(tx, 'customer', text(row, 'user_id')),
    status: text(row, 'status'),
    rateBps,
    wantedId: Number(text(row, 'id')),
    createdAt: utc(text(row, 'date_registered')),
    clicks: toClicks(clicks),
    remarks: rateBps === null ? [flatRate] : []
  }
}

/** What becomes of a rate that is an amount. */
export const flatRate = "A rate that is not a percentage becomes the shop's rate"

/** Clicks by day, from rows with `day` and `clicks`. */
export function toClicks(rows: readonly Row[]): AffiliateRecord['clicks'] {
  return rows.flatMap((row) => {
    const at = utc(`${text(row, 'day')} 12:00:00`)
    return at === null ? [] : [{ at, count: Number(text(row, 'clicks')) }]
  })
}

/** In basis points; null for a flat rate. Without a rate of their own, affiliates have the usual one. */
function rateOf(row: Row, usualRate: string): number | null {
  return text(row, 'rate_type') === 'flat' ? null : rateBpsOf(text(row, 'rate') || usualRate)
}

/** A percentage in basis points; null for text that is not one. */
export function rateBpsOf(percent: string): number | null {
  const rateBps = Math.round(Number(percent) * 100)
  return rateBps >= 0 && rateBps <= 10_000 ? rateBps : null
}

/** Moves the referrals in. Drafts, and those that AffiliateWP itself dropped, were never credited. */
export async function* moveReferrals(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  const sql = 'SELECT r.*, r.referral_id AS id FROM {affiliate_wp_referrals} r WHERE r.referral_id > ?'
  for await (const rows of source.parts(sql)) {
    await writeInBatches(move, rows, (tx, row) => writeReferral(tx, toReferral(tx, row, move), move, tally))
    yield
  }
}

function toReferral(tx: Tx, row: Row, move: Move): ReferralRecord {
  const currency = isCurrency(text(row, 'currency')) ? text(row, 'currency') : setting(tx, 'shop.currency')
  return {
    id: text(row, 'id'),
    affiliateId: text(row, 'affiliate_id'),
    status: text(row, 'status'),
    amountMinor: minorOf(text(row, 'amount'), currency),
    currency,
    createdAt: utc(text(row, 'date')) ?? move.now,
    orderId: move.moved.find(tx, 'order', text(row, 'reference')),
    campaign: text(row, 'campaign'),
    description: text(row, 'description')
  }
}

/** Moves the payouts in, each with the referrals that it paid. */
export async function* movePayouts(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  if (!source.has('affiliate_wp_payouts')) return
  const sql = 'SELECT p.*, p.payout_id AS id FROM {affiliate_wp_payouts} p WHERE p.payout_id > ?'
  for await (const rows of source.parts(sql)) {
    await writeInBatches(move, rows, (tx, row) => writePayout(tx, toPayout(tx, row), move, tally))
    yield
  }
}

function toPayout(tx: Tx, row: Row): PayoutRecord {
  return {
    id: text(row, 'id'),
    affiliateId: text(row, 'affiliate_id'),
    status: text(row, 'status'),
    amountMinor: minorOf(text(row, 'amount'), setting(tx, 'shop.currency')),
    referrals: text(row, 'referrals')
      .split(',')
      .map((id) => id.trim()),
    method: text(row, 'payout_method'),
    createdAt: utc(text(row, 'date'))
  }
}
