import { eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { AppError } from '../../errors.ts'
import { referrals } from './schema.ts'
import type { commissionEntries, payouts } from './schema.ts'

export type ReferralRow = typeof referrals.$inferSelect
export type CommissionEntryRow = typeof commissionEntries.$inferSelect
export type PayoutRow = typeof payouts.$inferSelect

const byId = statement((orm) =>
  orm
    .select()
    .from(referrals)
    .where(eq(referrals.id, sql.placeholder('id')))
    .prepare()
)
const byOrder = statement((orm) =>
  orm
    .select()
    .from(referrals)
    .where(eq(referrals.orderId, sql.placeholder('orderId')))
    .prepare()
)

/** Finds the referral of an order. An order has at most one. */
export function findReferralOfOrder(db: Db, orderId: number): ReferralRow | undefined {
  return byOrder(db).get({ orderId })
}

/** Finds a referral by its id. @throws AppError NOT_FOUND */
export function getReferral(db: Db, id: number): ReferralRow {
  const referral = byId(db).get({ id })
  if (referral === undefined) throw new AppError('NOT_FOUND', `Referral ${id} does not exist.`)
  return referral
}

const updateReferral = statement((orm) =>
  orm
    .update(referrals)
    .set({
      status: sql`${sql.placeholder('status')}`,
      amountMinor: sql`${sql.placeholder('amountMinor')}`,
      rateBps: sql`${sql.placeholder('rateBps')}`,
      rejectedFor: sql`${sql.placeholder('rejectedFor')}`,
      acceptedAt: sql`${sql.placeholder('acceptedAt')}`,
      review: sql`${sql.placeholder('review')}`,
      updatedAt: sql`${sql.placeholder('now')}`
    })
    .where(eq(referrals.id, sql.placeholder('id')))
    .returning()
    .prepare()
)

/** The fields of a referral that can change. */
export type ReferralChange = Partial<
  Pick<ReferralRow, 'status' | 'amountMinor' | 'rateBps' | 'rejectedFor' | 'acceptedAt' | 'review'>
>

/** Updates a referral and returns the new row. */
export function storeReferral(tx: Tx, referral: ReferralRow, change: ReferralChange, now: number): ReferralRow {
  const { review, ...row } = { ...referral, ...change }
  return updateReferral(tx).get({ ...row, review: review === null ? null : JSON.stringify(review), now })
}

/** A referral as the data of its events. */
export function toEventData({ id, affiliateId, orderId, amountMinor, currency }: ReferralRow) {
  return { referralId: id, affiliateId, orderId, amountMinor, currency }
}
