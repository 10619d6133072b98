import type { ReferralRow } from './rows.ts'
import { referrals } from './schema.ts'
import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'

const updateReferral = statement((orm) =>
  orm
    .update(referrals)
    .set({
      status: sql`${sql.placeholder('status')}`,
      amountMinor: sql`${sql.placeholder('amountMinor')}`,
      rejectedFor: sql`${sql.placeholder('rejectedFor')}`,
      acceptedAt: sql`${sql.placeholder('acceptedAt')}`,
      note: sql`${sql.placeholder('note')}`,
      updatedAt: sql`${sql.placeholder('now')}`
    })
    .where(eq(referrals.id, sql.placeholder('id')))
    .returning()
    .prepare()
)

/** The fields of a referral that can change. Its affiliate, order and rate cannot. */
export type ReferralChange = Partial<
  Pick<ReferralRow, 'status' | 'amountMinor' | 'rejectedFor' | 'acceptedAt' | 'note'>
>

/** Updates a referral and returns the new row. */
export function storeReferral(tx: Tx, referral: ReferralRow, change: ReferralChange, now: number): ReferralRow {
  return updateReferral(tx).get({ ...referral, ...change, now })
}

/** A referral as the data of its events. */
export function toEventData({ id, affiliateId, orderId, amountMinor, currency }: ReferralRow) {
  return { referralId: id, affiliateId, orderId, amountMinor, currency }
}
