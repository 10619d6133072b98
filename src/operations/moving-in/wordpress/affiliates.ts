import { findOwnRate } from '../../../shop/affiliates/rates.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { isCurrency } from '../../../platform/money.ts'
import { isRecord } from '../../../platform/typed.ts'
import { getUserById } from '../../../shop/accounts/find.ts'
import { recordClicks } from '../../../shop/affiliates/clicks.ts'
import { findAffiliateById, findAffiliateOfUser } from '../../../shop/affiliates/find.ts'
import type { AffiliateRow } from '../../../shop/affiliates/find.ts'
import { insertImportedOrder } from '../../../shop/orders/imported-order.ts'
import {
  insertImportedAffiliate,
  insertImportedPayout,
  insertImportedReferral
} from '../../../shop/payouts/imported-affiliate.ts'
import { findReferralOfOrder, getReferral } from '../../../shop/referrals/store.ts'
import type { ReferralRow } from '../../../shop/referrals/store.ts'
import { setting } from '../../../shop/settings/settings.ts'
import { lineOf } from '../clean-text.ts'
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
    await writeInBatches(move, rows, (tx, row) =>
      moveAffiliate(tx, { row, usualRate, clicks: byAffiliate.get(text(row, 'id')) ?? [] }, move, tally)
    )
    yield
  }
}

type Affiliate = { row: Row; usualRate: string; clicks: readonly Row[] }
const statuses = ['pending', 'active', 'inactive', 'rejected'] as const

function moveAffiliate(tx: Tx, { row, usualRate, clicks }: Affiliate, move: Move, tally: SubjectTally): void {
  const id = text(row, 'id')
  if (move.moved.find(tx, 'affiliate', id) !== undefined) return tally.know()
  const userId = move.moved.find(tx, 'customer', text(row, 'user_id'))
  const status = statuses.find((known) => known === text(row, 'status'))
  if (userId === undefined) return tally.leave('The account of the affiliate did not arrive', id)
  if (status === undefined) return tally.leave(`The status ${text(row, 'status')} is unknown`, id)
  if (findAffiliateOfUser(tx, userId) !== undefined) return tally.leave('The account is an affiliate here already', id)
  const rateBps = rateOf(row, usualRate)
  if (rateBps === null) tally.change("A rate that is not a percentage becomes the shop's rate", id)
  const { username } = getUserById(tx, userId)
  const createdAt = utc(text(row, 'date_registered')) ?? move.now
  const affiliate = insertImportedAffiliate(tx, { wantedId: Number(id), userId, username, status, rateBps, createdAt })
  for (const day of clicks) {
    const at = utc(`${text(day, 'day')} 12:00:00`)
    if (at !== null) recordClicks(tx, affiliate.id, Number(text(day, 'clicks')), at)
  }
  move.moved.remember(tx, 'affiliate', id, affiliate.id, move.now)
  tally.arrive()
}

/** In basis points; null for a flat rate. Without a rate of their own, affiliates have the usual one. */
function rateOf(row: Row, usualRate: string): number | null {
  if (text(row, 'rate_type') === 'flat') return null
  const rateBps = Math.round(Number(text(row, 'rate') || usualRate || 0) * 100)
  return rateBps >= 0 && rateBps <= 10_000 ? rateBps : null
}

/** Moves the referrals in. Drafts, and those that AffiliateWP itself dropped, were never credited. */
export async function* moveReferrals(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  const sql = 'SELECT r.*, r.referral_id AS id FROM {affiliate_wp_referrals} r WHERE r.referral_id > ?'
  for await (const rows of source.parts(sql)) {
    await writeInBatches(move, rows, (tx, row) => moveReferral(tx, row, move, tally))
    yield
  }
}

const referralStatuses = ['pending', 'unpaid', 'paid', 'rejected'] as const

function moveReferral(tx: Tx, row: Row, move: Move, tally: SubjectTally): void {
  const id = text(row, 'id')
  if (move.moved.find(tx, 'referral', id) !== undefined) return tally.know()
  const affiliate = affiliateOf(tx, row, move)
  const status = referralStatuses.find((known) => known === text(row, 'status'))
  if (affiliate === undefined) return tally.leave('The affiliate did not arrive', id)
  if (status === undefined) return tally.leave(`Referrals with the status ${text(row, 'status')} were not credited`, id)
  const currency = isCurrency(text(row, 'currency')) ? text(row, 'currency') : setting(tx, 'shop.currency')
  const amountMinor = minorOf(text(row, 'amount'), currency)
  if (amountMinor < 0) return tally.leave('The amount is below zero', id)
  const createdAt = utc(text(row, 'date')) ?? move.now
  const known = orderOf(tx, row, move)
  if (known === undefined) tally.change('A commission without an order gets an order of 0 that names it', id)
  const orderId = known ?? insertImportedOrder(tx, orderFor(row, currency, createdAt)).row.id
  const campaign = lineOf(text(row, 'campaign'), 100)
  const rateBps = findOwnRate(tx, affiliate.id, move.now)?.rateBps ?? 0
  const values = { orderId, status, rateBps, amountMinor, currency, createdAt, campaign }
  const referral = insertImportedReferral(tx, affiliate, values)
  move.moved.remember(tx, 'referral', id, referral.id, move.now)
  tally.arrive()
  tally.add(`commissions ${status}`, currency, { foundMinor: amountMinor, arrivedMinor: referral.amountMinor })
}

function affiliateOf(tx: Tx, row: Row, move: Move): AffiliateRow | undefined {
  const id = move.moved.find(tx, 'affiliate', text(row, 'affiliate_id'))
  return id === undefined ? undefined : findAffiliateById(tx, id)
}

/** The order that a referral is for. An order has one referral, so a second one gets an order of its own. */
function orderOf(tx: Tx, row: Row, move: Move): number | undefined {
  const orderId = move.moved.find(tx, 'order', text(row, 'reference'))
  return orderId === undefined || findReferralOfOrder(tx, orderId) !== undefined ? undefined : orderId
}

/** An order of 0 for a commission that AffiliateWP's owner gave by hand, because each referral belongs to an order. */
function orderFor(row: Row, currency: string, createdAt: number): Parameters<typeof insertImportedOrder>[1] {
  const name = lineOf(text(row, 'description'), 255) ?? 'Commission without an order'
  const number = `commission ${text(row, 'id')}`
  return {
    wantedId: 0,
    userId: null,
    email: null,
    status: 'completed',
    currency,
    taxIncluded: true,
    totalMinor: 0,
    goodsTaxMinor: 0,
    shippingTaxMinor: 0,
    contact: {},
    billingAddress: null,
    shippingAddress: null,
    vatId: null,
    notes: null,
    paidAt: createdAt,
    createdAt,
    updatedAt: createdAt,
    lines: [
      {
        sourceId: '',
        productId: null,
        variationId: null,
        name,
        quantity: 1,
        sku: null,
        taxClass: 'zero',
        taxRow: null,
        subtotalMinor: 0,
        totalMinor: 0
      }
    ],
    shipping: null,
    taxes: [],
    coupons: [],
    refunds: [],
    attribution: { sourceType: 'typein', utmSource: null, utmMedium: null, utmCampaign: null, utmContent: null },
    record: { number, status: 'completed', payment: '', transactionId: '', discountMinor: 0, fees: [], notes: [] },
    reason: `moved in: ${number} of the old shop`
  }
}

/** Moves the payouts in, each with the referrals that it paid. */
export async function* movePayouts(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  if (!source.has('affiliate_wp_payouts')) return
  const sql = 'SELECT p.*, p.payout_id AS id FROM {affiliate_wp_payouts} p WHERE p.payout_id > ?'
  for await (const rows of source.parts(sql)) {
    await writeInBatches(move, rows, (tx, row) => movePayout(tx, row, move, tally))
    yield
  }
}

function movePayout(tx: Tx, row: Row, move: Move, tally: SubjectTally): void {
  const id = text(row, 'id')
  if (move.moved.find(tx, 'payout', id) !== undefined) return tally.know()
  const affiliate = affiliateOf(tx, row, move)
  if (affiliate === undefined) return tally.leave('The affiliate did not arrive', id)
  if (text(row, 'status') !== 'paid')
    return tally.leave(`Payouts with the status ${text(row, 'status')} paid nothing`, id)
  const paid = text(row, 'referrals')
    .split(',')
    .flatMap((each): ReferralRow[] => {
      const referral = move.moved.find(tx, 'referral', each.trim())
      return referral === undefined ? [] : [getReferral(tx, referral)]
    })
    .filter(({ status }) => status === 'paid')
  const [first] = paid
  if (first === undefined) return tally.leave('The payout has no paid referral', id)
  const { currency } = first
  const createdAt = utc(text(row, 'date')) ?? move.now
  const reference = lineOf(text(row, 'payout_method'), 100)
  const payoutId = insertImportedPayout(tx, { affiliateId: affiliate.id, currency, reference, createdAt, paid })
  move.moved.remember(tx, 'payout', id, payoutId, move.now)
  tally.arrive()
  const arrivedMinor = paid.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  tally.add('payouts', currency, { foundMinor: minorOf(text(row, 'amount'), currency), arrivedMinor })
}
