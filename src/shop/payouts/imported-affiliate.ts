import type { Tx } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { recordVisit } from '../affiliates/clicks.ts'
import { freeCode } from '../affiliates/create.ts'
import { findAffiliateById } from '../affiliates/find.ts'
import type { AffiliateRow } from '../affiliates/find.ts'
import { affiliates } from '../affiliates/schema.ts'
import { adjustEarned, recordPaidOut } from '../referrals/ledger.ts'
import { payouts, referrals } from '../referrals/schema.ts'
import { shopDay } from '../settings/shop-days.ts'
import { isAccepted } from '../referrals/states.ts'
import type { ReferralRow } from '../referrals/store.ts'
import { attributeTo } from '../orders/attribution.ts'
import { partiesOf } from './statement.ts'

/** An affiliate of another shop. `rateBps` is null for the shop's rate. */
export type ImportedAffiliate = Pick<AffiliateRow, 'userId' | 'status' | 'rateBps' | 'createdAt'> & {
  /** The id there, which the affiliate keeps if it is free: links with it still work. */
  wantedId: number
  /** The username there, from which the code is made. */
  username: string
}

/** Stores an affiliate of another shop, without an event. The account must not have an affiliate. */
export function insertImportedAffiliate(tx: Tx, { wantedId, username, ...columns }: ImportedAffiliate): AffiliateRow {
  const code = freeCode(tx, username)
  const id = findAffiliateById(tx, wantedId) === undefined ? { id: wantedId } : {}
  const values = { ...columns, ...id, code, codeKey: compareKey(code), updatedAt: columns.createdAt }
  return tx.orm.insert(affiliates).values(values).returning().get()
}

/** A referral of another shop. The amount is in minor units of its currency. */
export type ImportedReferral = Pick<
  ReferralRow,
  'orderId' | 'status' | 'rateBps' | 'amountMinor' | 'currency' | 'createdAt'
> & { campaign: string | null }

/** Stores a referral with its visit, its ledger entry if it was accepted, and the attribution of its order. */
export function insertImportedReferral(tx: Tx, affiliate: AffiliateRow, referral: ImportedReferral): ReferralRow {
  const { campaign, ...columns } = referral
  const { orderId, status, createdAt } = columns
  const visitId = recordVisit(tx, { affiliateId: affiliate.id, orderId, campaign }, createdAt)
  const acceptedAt = isAccepted(status) ? createdAt : null
  const rejectedFor = status === 'rejected' ? 'imported' : null
  const day = shopDay(tx, createdAt)
  const dates = { day, acceptedAt, updatedAt: createdAt }
  const values = { ...columns, ...dates, affiliateId: affiliate.id, visitId, rejectedFor }
  const row = tx.orm.insert(referrals).values(values).returning().get()
  if (isAccepted(status)) adjustEarned(tx, row, row.amountMinor, 'moved in', createdAt)
  attributeTo(tx, affiliate, { orderId, visitId, affiliateCampaign: campaign ?? '', creditedBy: 'import' })
  return row
}

/** A payout of another shop, with the referrals that it paid. */
export type ImportedPayout = Pick<
  typeof payouts.$inferSelect,
  'affiliateId' | 'currency' | 'reference' | 'createdAt'
> & {
  paid: readonly ReferralRow[]
}

/** Stores a payout and its ledger entries. Its amount is the sum of its referrals, which must be above 0. */
export function insertImportedPayout(tx: Tx, { paid, ...columns }: ImportedPayout): number {
  const amountMinor = paid.reduce((sum, referral) => sum + referral.amountMinor, 0)
  const { id } = tx.orm
    .insert(payouts)
    .values({ ...columns, amountMinor, paidBy: 'old shop', ...partiesOf(tx, columns.affiliateId) })
    .returning({ id: payouts.id })
    .get()
  for (const referral of paid) recordPaidOut(tx, referral, { id, owedMinor: referral.amountMinor }, columns.createdAt)
  return id
}
