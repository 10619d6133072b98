import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { recordVisit } from '../affiliates/clicks.ts'
import { freeCode, isFreeCode } from '../affiliates/create.ts'
import { findAffiliateById } from '../affiliates/find.ts'
import type { AffiliateRow } from '../affiliates/find.ts'
import { insertImportedRate } from '../affiliates/rates.ts'
import { affiliates } from '../affiliates/schema.ts'
import { adjustEarned, recordPaidOut } from '../referrals/ledger.ts'
import { payouts, referrals } from '../referrals/schema.ts'
import { shopDay } from '../settings/shop-days.ts'
import { isAccepted } from '../referrals/states.ts'
import type { ReferralRow } from '../referrals/store.ts'
import { attributeTo } from '../orders/attribution.ts'
import { getOrder } from '../orders/find.ts'
import { goodsOf } from '../orders/refunds/refund-lines.ts'
import { storeLines } from '../referrals/lines.ts'
import { shareMinor } from '../../platform/money.ts'
import { partiesOf } from './statement.ts'

/** An affiliate of another shop. `rateBps` is null for the shop's rate. */
export type ImportedAffiliate = Pick<AffiliateRow, 'userId' | 'status' | 'createdAt'> & {
  rateBps: number | null

  /** The id there, which the affiliate keeps if it is free: links with it still work. */
  wantedId: number
  /** The username, from which a code is made if there is none, or if another affiliate has or had it. */
  username: string
  code?: string | undefined
}

/** Stores an affiliate of another shop, without an event. The account must not have an affiliate. */
export function insertImportedAffiliate(
  tx: Tx,
  { wantedId, username, code: wanted, rateBps, ...columns }: ImportedAffiliate
): AffiliateRow {
  const code = wanted !== undefined && isFreeCode(tx, wanted) ? wanted : freeCode(tx, username)
  const id = wantedId > 0 && findAffiliateById(tx, wantedId) === undefined ? { id: wantedId } : {}
  const values = { ...columns, ...id, code, codeKey: compareKey(code), updatedAt: columns.createdAt }
  const affiliate = tx.orm.insert(affiliates).values(values).returning().get()
  if (rateBps !== null) insertImportedRate(tx, affiliate, rateBps)
  return affiliate
}

/** A referral of another shop. The amount is in minor units of its currency. */
export type ImportedReferral = Pick<ReferralRow, 'orderId' | 'status' | 'amountMinor' | 'currency' | 'createdAt'> & {
  rateBps: number
  campaign: string | null
}

/** Stores a referral with its visit, its ledger entry if it was accepted, and the attribution of its order. */
export function insertImportedReferral(tx: Tx, affiliate: AffiliateRow, referral: ImportedReferral): ReferralRow {
  const { campaign, ...columns } = referral
  const { orderId, status, createdAt } = columns
  const visitId = recordVisit(tx, { affiliateId: affiliate.id, orderId, campaign }, createdAt)
  const acceptedAt = isAccepted(status) ? createdAt : null
  const rejectedFor = status === 'rejected' ? 'imported' : null
  const day = shopDay(tx, createdAt)
  const dates = { day, acceptedAt, updatedAt: createdAt }
  const values = { ...columns, ...dates, affiliateId: affiliate.id, visitId, rejectedFor, shopRateBps: columns.rateBps }
  const row = tx.orm.insert(referrals).values(values).returning().get()
  insertImportedLines(tx, row, columns.rateBps)
  if (isAccepted(status)) adjustEarned(tx, row, row.amountMinor, 'moved in', createdAt)
  attributeTo(tx, affiliate, { orderId, visitId, affiliateCampaign: campaign ?? '', creditedBy: 'import' })
  return row
}

/**
 * Divides the commission among the lines, by what is left of each after refunds, so that a later refund takes back its share.
 * The other shop has already reduced the commission by its refunds.
 */
function insertImportedLines(tx: Tx, { id, orderId, amountMinor }: ReferralRow, rateBps: number): void {
  const goods = goodsOf(tx, getOrder(tx, orderId)).lines
  const left = goods.map(({ goodsMinor, refundedMinor }) => goodsMinor - refundedMinor)
  if (left.every((minor) => minor === 0)) return
  const shares = shareMinor(amountMinor, left)
  const lines = goods.map(({ itemId, baseMinor, goodsMinor }, index) => {
    const [share = 0, leftMinor = 0] = [shares[index], left[index]]
    const commissionMinor = leftMinor === 0 ? 0 : Number((BigInt(share) * BigInt(goodsMinor)) / BigInt(leftMinor))
    const line = { itemId, baseMinor, rateBps, source: 'import' as const, rateId: null }
    return { ...line, commissionMinor, takenBackMinor: commissionMinor - share }
  })
  storeLines(tx, id, lines)
}

/**
 * Updates a referral to its state and amount in the other shop, with its ledger entry. A referral that was paid, or that was
 * decided in this shop, stays as it is.
 *
 * @returns whether it changed
 */
export function updateImportedReferral(
  tx: Tx,
  referral: ReferralRow,
  { status, amountMinor }: Pick<ReferralRow, 'status' | 'amountMinor'>,
  now: number
): boolean {
  const isSame = referral.status === status && referral.amountMinor === amountMinor
  if (isSame || referral.status === 'paid' || referral.updatedAt !== referral.createdAt) return false
  const acceptedAt = isAccepted(status) ? referral.createdAt : null
  const rejectedFor = status === 'rejected' ? 'imported' : null
  tx.orm
    .update(referrals)
    .set({ status, amountMinor, acceptedAt, rejectedFor })
    .where(eq(referrals.id, referral.id))
    .run()
  insertImportedLines(tx, { ...referral, amountMinor }, referral.shopRateBps)
  adjustEarned(tx, referral, isAccepted(status) ? amountMinor : 0, 'moved in', now)
  return true
}

/** A payout of another shop, with the referrals that it paid. */
export type ImportedPayout = Pick<
  typeof payouts.$inferSelect,
  'affiliateId' | 'currency' | 'reference' | 'createdAt'
> & {
  paid: readonly ReferralRow[]
  /** The part of the payout that names no referrals. */
  onAccountMinor: number
}

/** Stores a payout and its ledger entries. Its amount, which must be above 0, is that of its referrals plus `onAccountMinor`. */
export function insertImportedPayout(tx: Tx, { paid, onAccountMinor, ...columns }: ImportedPayout): number {
  const amountMinor = paid.reduce((sum, referral) => sum + referral.amountMinor, onAccountMinor)
  const { id } = tx.orm
    .insert(payouts)
    .values({ ...columns, amountMinor, paidBy: 'old shop', ...partiesOf(tx, columns.affiliateId) })
    .returning({ id: payouts.id })
    .get()
  for (const referral of paid) recordPaidOut(tx, referral, { id, owedMinor: referral.amountMinor }, columns.createdAt)
  const { affiliateId, currency, createdAt } = columns
  if (onAccountMinor > 0)
    recordPaidOut(tx, { affiliateId, currency, id: null }, { id, owedMinor: onAccountMinor }, createdAt)
  return id
}
