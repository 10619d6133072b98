import { and, asc, eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import { findAffiliateById } from '../affiliates/find.ts'
import { recordPaidOut } from '../referrals/ledger.ts'
import { lostPayouts, payouts, referrals } from '../referrals/schema.ts'
import { storeReferral } from '../referrals/store.ts'
import type { PayoutRow } from '../referrals/store.ts'
import { emit } from '../webhooks/emit.ts'
import { recordFailure } from './fail.ts'
import { findFailure, toPayoutEvent } from './find.ts'

export type LostPayout = typeof lostPayouts.$inferSelect

/** The payouts, and the failures of payouts, that a restore lost and that nobody has taken over, oldest first. */
export function listLostPayouts(db: Db): LostPayout[] {
  return db.orm.select().from(lostPayouts).orderBy(asc(lostPayouts.createdAt), asc(lostPayouts.payoutId)).all()
}

/** `34.50 EUR to mira`, for a question or an error. */
export function describeLost({ payoutId, record }: LostPayout): string {
  const { affiliateCode, amountMinor, currency, failure } = record
  const payout = `${formatMoney(amountMinor, currency)} to ${affiliateCode}`
  return failure === null ? payout : `${payout} (payout ${payoutId}, failed: ${failure.reason})`
}

/** @throws AppError CONFLICT while a restore has lost payouts that are not taken over */
export function assertNoneLost(db: Db): void {
  const lost = listLostPayouts(db)
  if (lost.length === 0) return
  throw new AppError(
    'CONFLICT',
    `The database that a restore replaced knew of payouts what this one does not: ${lost.map(describeLost).join(', ')}. Commissions would be paid twice, or never. "shopstead payouts adopt" records them.`
  )
}

/**
 * Records the lost payouts again, with their id, date, reference and person, and the lost failures: what they paid counts as
 * paid, and what came back is due. What they paid for a referral that this database does not have becomes a debt, which the
 * commission sets off if the order is entered again. A payout to an affiliate whom the database does not have cannot be
 * recorded, and only ends the wait.
 */
export function adoptLostPayouts(db: Db, now: number): PayoutRow[] {
  return write(db, (tx) =>
    listLostPayouts(tx).flatMap((lost) => {
      tx.orm.delete(lostPayouts).where(eq(lostPayouts.id, lost.id)).run()
      const { affiliateId, affiliateCreatedAt, failure } = lost.record
      if (findAffiliateById(tx, affiliateId)?.createdAt !== affiliateCreatedAt) return []
      const payout = findSame(tx, lost) ?? recordLost(tx, lost, now)
      if (failure !== null && findFailure(tx, payout.id) === undefined) recordFailure(tx, payout, failure, now)
      emit(tx, 'payout.adopted', toPayoutEvent(payout), now)
      return [payout]
    })
  )
}

/** The payout itself, where only its failure is lost. */
function findSame(tx: Tx, { createdAt, record: { affiliateId, amountMinor, currency } }: LostPayout) {
  const known = and(
    eq(payouts.affiliateId, affiliateId),
    eq(payouts.currency, currency),
    eq(payouts.amountMinor, amountMinor),
    eq(payouts.createdAt, createdAt)
  )
  return tx.orm.select().from(payouts).where(known).get()
}

function recordLost(tx: Tx, { payoutId, createdAt, record }: LostPayout, now: number): PayoutRow {
  const { affiliateId, amountMinor, currency, reference, paidBy, seller, payee } = record
  const isTaken = tx.orm.select({ id: payouts.id }).from(payouts).where(eq(payouts.id, payoutId)).get() !== undefined
  const payout = tx.orm
    .insert(payouts)
    .values({
      affiliateId,
      amountMinor,
      currency,
      reference,
      paidBy,
      seller,
      payee,
      createdAt,
      ...(isTaken ? {} : { id: payoutId })
    })
    .returning()
    .get()
  for (const line of record.lines) {
    const paid = { id: payout.id, owedMinor: line.amountMinor }
    const referral = findReferral(tx, line.referral)
    const origin = referral ?? { id: null, affiliateId: line.affiliateId, currency }
    if (line.amountMinor !== 0) recordPaidOut(tx, origin, paid, now)
    if (referral?.status === 'unpaid') storeReferral(tx, referral, { status: 'paid' }, now)
  }
  return payout
}

/** A referral is the same one if its order and its time are. */
function findReferral(tx: Tx, known: { id: number; orderId: number; createdAt: number } | null) {
  if (known === null) return undefined
  const { id, orderId, createdAt } = known
  const isSame = and(eq(referrals.id, id), eq(referrals.orderId, orderId), eq(referrals.createdAt, createdAt))
  return tx.orm.select().from(referrals).where(isSame).get()
}
