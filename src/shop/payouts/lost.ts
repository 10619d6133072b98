import { and, asc, eq, or } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import { findAffiliateById } from '../affiliates/find.ts'
import { recordPaidOut } from '../referrals/ledger.ts'
import { lostPayouts, payouts, referrals } from '../referrals/schema.ts'
import { storeReferral } from '../referrals/store.ts'
import type { PayoutRow, ReferralRow } from '../referrals/store.ts'
import { emit } from '../webhooks/emit.ts'
import { recordFailure } from './fail.ts'
import { findFailure, toPayoutEvent } from './find.ts'

export type LostPayout = typeof lostPayouts.$inferSelect
type LostLine = LostPayout['record']['lines'][number]

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
 * commission sets off if the order is entered again. If the account of the payee is lost too, the payout goes to the erased
 * account whose commissions it paid. If there is no such account either, the payout cannot be recorded and is only taken off
 * the list.
 */
export function adoptLostPayouts(db: Db, now: number): PayoutRow[] {
  return write(db, (tx) =>
    listLostPayouts(tx).flatMap((lost) => {
      tx.orm.delete(lostPayouts).where(eq(lostPayouts.id, lost.id)).run()
      const { failure, lines } = lost.record
      const payee = [lost.record, ...lines].find((each) => isSameAffiliate(tx, each))
      if (payee === undefined) return []
      const payout = findSame(tx, lost) ?? recordLost(tx, lost, payee.affiliateId, now)
      if (failure !== null && findFailure(tx, payout.id) === undefined) recordFailure(tx, payout, failure, now)
      emit(tx, 'payout.adopted', toPayoutEvent(payout), now)
      return [payout]
    })
  )
}

/** Ids repeat after a restore, so the time counts, too. */
function isSameAffiliate(tx: Tx, { affiliateId, affiliateCreatedAt }: LostLine | LostPayout['record']): boolean {
  return findAffiliateById(tx, affiliateId)?.createdAt === affiliateCreatedAt
}

/** The payout itself, where only its failure is lost. */
function findSame(tx: Tx, { payoutId, createdAt, record: { affiliateId, amountMinor, currency } }: LostPayout) {
  const known = and(
    or(eq(payouts.id, payoutId), eq(payouts.affiliateId, affiliateId)),
    eq(payouts.currency, currency),
    eq(payouts.amountMinor, amountMinor),
    eq(payouts.createdAt, createdAt)
  )
  return tx.orm.select().from(payouts).where(known).get()
}

function recordLost(tx: Tx, { payoutId, createdAt, record }: LostPayout, affiliateId: number, now: number): PayoutRow {
  const { amountMinor, currency, reference, paidBy, seller, payee } = record
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
  for (const { referral, owner, owedMinor } of originsOf(tx, record.lines, affiliateId)) {
    const origin = referral ?? { id: null, affiliateId: owner, currency }
    if (owedMinor !== 0) recordPaidOut(tx, origin, { id: payout.id, owedMinor }, now)
    if (referral?.status === 'unpaid') storeReferral(tx, referral, { status: 'paid' }, now)
  }
  return payout
}

/** What a lost payout paid for each referral, and, in one sum for each affiliate, without one that is known here. */
function originsOf(tx: Tx, lines: readonly LostLine[], payeeId: number) {
  const found = lines.map((line) => {
    const referral = findReferral(tx, line.referral)
    const owner = referral?.affiliateId ?? (isSameAffiliate(tx, line) ? line.affiliateId : payeeId)
    return { referral, owner, owedMinor: line.amountMinor }
  })
  const unknown = Map.groupBy(
    found.filter(({ referral }) => referral === undefined),
    ({ owner }) => owner
  )
  const sums = [...unknown].map(([owner, rows]) => {
    return { referral: undefined, owner, owedMinor: rows.reduce((sum, row) => sum + row.owedMinor, 0) }
  })
  return [...found.filter(({ referral }) => referral !== undefined), ...sums]
}

/** A referral is the same one if its order and its time are. */
function findReferral(tx: Tx, known: LostLine['referral']): ReferralRow | undefined {
  if (known === null) return undefined
  const { id, orderId, createdAt } = known
  const isSame = and(eq(referrals.id, id), eq(referrals.orderId, orderId), eq(referrals.createdAt, createdAt))
  return tx.orm.select().from(referrals).where(isSame).get()
}
