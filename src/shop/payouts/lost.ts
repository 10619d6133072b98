import { eq, isNull } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import { findAffiliateById } from '../affiliates/find.ts'
import type { AffiliateRow } from '../affiliates/find.ts'
import { recordPaidOut } from '../referrals/ledger.ts'
import { lostPayouts, payouts } from '../referrals/schema.ts'
import { getReferral, storeReferral } from '../referrals/store.ts'
import type { PayoutRow } from '../referrals/store.ts'

export type LostPayout = typeof lostPayouts.$inferSelect

/** The payouts that a restore lost and that nobody has taken over, oldest first. */
export function listLostPayouts(db: Db): LostPayout[] {
  return db.orm.select().from(lostPayouts).where(isNull(lostPayouts.takenOverAt)).orderBy(lostPayouts.id).all()
}

/** `34.50 EUR to mira`, for a question or an error. */
export function describeLost({ affiliateCode, amountMinor, currency }: LostPayout): string {
  return `${formatMoney(amountMinor, currency)} to ${affiliateCode}`
}

/** @throws AppError CONFLICT while a restore has lost payouts that are not taken over */
export function assertNoneLost(db: Db): void {
  const lost = listLostPayouts(db)
  if (lost.length === 0) return
  throw new AppError(
    'CONFLICT',
    `The database that a restore replaced had payouts that this one does not know: ${lost.map(describeLost).join(', ')}. Their commissions would be paid twice. "shopstead payouts adopt" records them.`
  )
}

/**
 * Records the lost payouts again, with their date, reference and person: what they paid counts as paid. What they paid for
 * a referral that this database does not have becomes a debt, which the commission sets off if the order is entered again.
 * A payout to an affiliate whom the database does not have cannot be recorded, and only ends the wait.
 */
export function adoptLostPayouts(db: Db, now: number): PayoutRow[] {
  return write(db, (tx) =>
    listLostPayouts(tx).flatMap((lost) => {
      tx.orm.update(lostPayouts).set({ takenOverAt: now }).where(eq(lostPayouts.id, lost.id)).run()
      const affiliate = findAffiliateById(tx, lost.affiliateId)
      return affiliate?.code === lost.affiliateCode ? [recordLost(tx, affiliate, lost, now)] : []
    })
  )
}

function recordLost(tx: Tx, { id: affiliateId }: AffiliateRow, lost: LostPayout, now: number): PayoutRow {
  const { amountMinor, currency, reference, paidBy, createdAt } = lost
  const values = { affiliateId, amountMinor, currency, reference, paidBy, createdAt }
  const payout = tx.orm.insert(payouts).values(values).returning().get()
  for (const { referralId, amountMinor: owedMinor } of lost.lines) {
    const paid = { id: payout.id, owedMinor }
    const referral = referralId === null ? undefined : getReferral(tx, referralId)
    if (owedMinor !== 0) recordPaidOut(tx, referral ?? { id: null, affiliateId, currency }, paid, now)
    if (referral?.status === 'unpaid') storeReferral(tx, referral, { status: 'paid' }, now)
  }
  return payout
}
