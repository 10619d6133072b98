import type { Tx } from '../../platform/db/database.ts'
import { getUserById } from '../../shop/accounts/find.ts'
import { recordClicks } from '../../shop/affiliates/clicks.ts'
import { affiliateStatuses, findAffiliateById, findAffiliateOfUser } from '../../shop/affiliates/find.ts'
import type { AffiliateRow } from '../../shop/affiliates/find.ts'
import { findOwnRate } from '../../shop/affiliates/rates.ts'
import { insertImportedOrder } from '../../shop/orders/imported-order.ts'
import {
  insertImportedAffiliate,
  insertImportedPayout,
  insertImportedReferral,
  updateImportedReferral
} from '../../shop/payouts/imported-affiliate.ts'
import type { ImportedReferral } from '../../shop/payouts/imported-affiliate.ts'
import { recordBonus } from '../../shop/referrals/ledger.ts'
import { referralStatuses } from '../../shop/referrals/states.ts'
import { findReferralOfOrder, getReferral } from '../../shop/referrals/store.ts'
import type { ReferralRow } from '../../shop/referrals/store.ts'
import { lineOf } from './clean-text.ts'
import type { Move } from './move.ts'
import { noAttribution } from './orders.ts'
import type { SubjectTally } from './report.ts'

/** An affiliate of another shop. `rateBps` is null for the shop's rate. */
export type AffiliateRecord = {
  id: string
  userId: number | undefined
  status: string
  rateBps: number | null
  /** The code in links; undefined for one made from the username. */
  code?: string | undefined
  /** The number in links, which the affiliate keeps if it is free; 0 for none. */
  wantedId: number
  createdAt: number | null
  clicks: readonly { at: number; count: number }[]
  /** What differs in this shop, for the report. */
  remarks: readonly string[]
  /** A second id under which the shop remembers the affiliate. */
  alias?: string
}

/** Stores an affiliate with the clicks on its links, and reports what became of it. */
export function writeAffiliate(tx: Tx, record: AffiliateRecord, move: Move, tally: SubjectTally): void {
  const { id, userId, rateBps, code, wantedId } = record
  if (move.moved.find(tx, 'affiliate', id) !== undefined) return tally.know()
  const status = affiliateStatuses.find((known) => known === record.status)
  if (userId === undefined) return tally.leave('The account of the affiliate did not arrive', id)
  if (status === undefined) return tally.leave(`The status ${record.status} is unknown`, id)
  if (findAffiliateOfUser(tx, userId) !== undefined) return tally.leave('The account is an affiliate here already', id)
  for (const remark of record.remarks) tally.change(remark, id)
  const { username } = getUserById(tx, userId)
  const createdAt = record.createdAt ?? move.now
  const affiliate = insertImportedAffiliate(tx, { wantedId, userId, username, code, status, rateBps, createdAt })
  for (const { at, count } of record.clicks) recordClicks(tx, affiliate.id, { clicks: count }, at)
  for (const name of [id, record.alias ?? id]) move.moved.remember(tx, 'affiliate', name, affiliate.id, move.now)
  tally.arrive()
}

/** A referral of another shop. `orderId` is the order here; undefined for none. */
export type ReferralRecord = Pick<ImportedReferral, 'amountMinor' | 'currency' | 'createdAt'> & {
  id: string
  affiliateId: string
  status: string
  orderId: number | undefined
  campaign: string
  /** Names the order of 0 that a commission without an order gets. */
  description: string
}

/**
 * Stores a referral, and reports what became of it. A referral that moved in before gets the state that it has in the other
 * shop now.
 */
export function writeReferral(tx: Tx, record: ReferralRecord, move: Move, tally: SubjectTally): void {
  const { id, amountMinor, currency, createdAt } = record
  const before = move.moved.find(tx, 'referral', id)
  const status = referralStatuses.find((known) => known === record.status)
  if (before !== undefined) {
    if (status !== undefined && updateImportedReferral(tx, getReferral(tx, before), { status, amountMinor }, move.now))
      tally.change(`Commissions are ${status} since`, id)
    return tally.know()
  }
  const affiliate = affiliateOf(tx, record.affiliateId, move)
  if (affiliate === undefined) return tally.leave('The affiliate did not arrive', id)
  if (status === undefined) return tally.leave(`Referrals with the status ${record.status} were not credited`, id)
  if (amountMinor < 0) return tally.leave('The amount is below zero', id)
  // An order has one referral, so a second one gets an order of its own.
  const isFree = record.orderId !== undefined && findReferralOfOrder(tx, record.orderId) === undefined
  if (!isFree) tally.change('A commission without an order gets an order of 0 that names it', id)
  const orderId =
    isFree && record.orderId !== undefined ? record.orderId : insertImportedOrder(tx, orderFor(record)).row.id
  const campaign = lineOf(record.campaign, 100)
  const values = {
    orderId,
    status,
    rateBps: findOwnRate(tx, affiliate.id, move.now)?.rateBps ?? 0,
    amountMinor,
    currency,
    createdAt,
    campaign
  }
  const referral = insertImportedReferral(tx, affiliate, values)
  move.moved.remember(tx, 'referral', id, referral.id, move.now)
  tally.arrive()
  tally.add(`commissions ${status}`, currency, { foundMinor: amountMinor, arrivedMinor: referral.amountMinor })
}

function affiliateOf(tx: Tx, sourceId: string, move: Move): AffiliateRow | undefined {
  const id = move.moved.find(tx, 'affiliate', sourceId)
  return id === undefined ? undefined : findAffiliateById(tx, id)
}

/** An order of 0 for a commission without one, because each referral belongs to an order. */
function orderFor({ id, description, currency, createdAt }: ReferralRecord): Parameters<typeof insertImportedOrder>[1] {
  const name = lineOf(description, 255) ?? 'Commission without an order'
  const number = `commission ${id}`
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
    attribution: noAttribution,
    record: { number, status: 'completed', payment: '', transactionId: '', discountMinor: 0, fees: [], notes: [] },
    reason: `moved in: ${number} of the old shop`
  }
}

/**
 * A payout of another shop. `referrals` contains the ids that its referrals have there. A payout with a `currency` names no
 * referrals: it lowers what the shop owes the affiliate.
 */
export type PayoutRecord = {
  currency?: string
  id: string
  affiliateId: string
  status: string
  amountMinor: number
  referrals: readonly string[]
  method: string
  createdAt: number | null
}

/** Stores a payout with the referrals that it paid, and reports what became of it. */
export function writePayout(tx: Tx, record: PayoutRecord, move: Move, tally: SubjectTally): void {
  const { id } = record
  if (move.moved.find(tx, 'payout', id) !== undefined) return tally.know()
  const affiliate = affiliateOf(tx, record.affiliateId, move)
  if (affiliate === undefined) return tally.leave('The affiliate did not arrive', id)
  if (record.status !== 'paid') return tally.leave(`Payouts with the status ${record.status} paid nothing`, id)
  const paid = record.referrals
    .flatMap((sourceId): ReferralRow[] => {
      const referral = move.moved.find(tx, 'referral', sourceId)
      return referral === undefined ? [] : [getReferral(tx, referral)]
    })
    .filter(({ status }) => status === 'paid')
  const currency = record.currency ?? paid[0]?.currency
  if (currency === undefined) return tally.leave('The payout has no paid referral', id)
  const onAccountMinor = record.currency === undefined ? 0 : record.amountMinor
  const arrivedMinor = paid.reduce((sum, { amountMinor }) => sum + amountMinor, onAccountMinor)
  if (arrivedMinor <= 0) return tally.leave('The payout paid nothing', id)
  const createdAt = record.createdAt ?? move.now
  const reference = lineOf(record.method, 100)
  const values = { affiliateId: affiliate.id, currency, reference, createdAt, paid, onAccountMinor }
  const payoutId = insertImportedPayout(tx, values)
  move.moved.remember(tx, 'payout', id, payoutId, move.now)
  tally.arrive()
  tally.add('payouts', currency, { foundMinor: record.amountMinor, arrivedMinor })
}

/** A correction of what an affiliate is owed in another shop, up or down. */
export type AdjustmentRecord = Omit<PayoutRecord, 'referrals' | 'method'> & { currency: string; reason: string }

/** Stores a correction, and reports what became of it. */
export function writeAdjustment(tx: Tx, record: AdjustmentRecord, move: Move, tally: SubjectTally): void {
  const { id, amountMinor, currency } = record
  if (move.moved.find(tx, 'payout', id) !== undefined) return tally.know()
  const affiliate = affiliateOf(tx, record.affiliateId, move)
  if (affiliate === undefined) return tally.leave('The affiliate did not arrive', id)
  if (record.status !== 'paid') return tally.leave(`Corrections with the status ${record.status} changed nothing`, id)
  if (amountMinor === 0) return tally.leave('The correction is 0', id)
  const reason = lineOf(record.reason, 255) ?? 'moved in'
  recordBonus(tx, { affiliateId: affiliate.id, currency }, { amountMinor, reason }, record.createdAt ?? move.now)
  move.moved.remember(tx, 'payout', id, affiliate.id, move.now)
  tally.arrive()
  tally.add('corrections', currency, { foundMinor: amountMinor, arrivedMinor: amountMinor })
}
