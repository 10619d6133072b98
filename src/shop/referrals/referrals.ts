import { currentRateBps } from '../affiliates/rate.ts'
import type { ReferralRow } from './rows.ts'
import { referrals } from './schema.ts'
import type { Tx } from '../../platform/db/database.ts'
import { insertStatement } from '../../platform/db/statements.ts'
import { emit } from '../outbox/emit.ts'
import { netCommissionMinor } from './commission.ts'
import { isCreditable } from '../affiliates/credit.ts'
import { findReferralOfOrder, getReferral } from './find.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { isPaidOut, adjustEarned } from './ledger.ts'
import type { AffiliateRow } from '../affiliates/rows.ts'
import { toEventData, storeReferral } from './store.ts'

const insertReferral = insertStatement(referrals)

export type NewReferral = {
  affiliate: AffiliateRow
  orderId: number
  visitId: number
  /** The order's total after discounts, in minor units of `currency`. */
  baseMinor: number
  currency: string
  /** Why it is rejected from the start (`self`); it then stays so. */
  reject?: string
}

/**
 * The pending referral of a new order, at the rate that holds now and stays with it. A total of zero and an affiliate
 * who is not active have none: undefined, and only the visit tells that they came.
 */
export function createReferral(tx: Tx, given: NewReferral, now: number): ReferralRow | undefined {
  const { affiliate, orderId, visitId, baseMinor, currency, reject: refusal } = given
  if (baseMinor === 0 || affiliate.status !== 'active') return undefined
  const rateBps = currentRateBps(tx, affiliate)
  const amountMinor = netCommissionMinor({ totalMinor: baseMinor, refundedMinor: 0 }, rateBps)
  const row = { affiliateId: affiliate.id, orderId, visitId, rateBps, amountMinor, currency }
  const id = insertReferral(tx, { ...row, status: 'pending', createdAt: now, updatedAt: now })
  const referral = getReferral(tx, id)
  emit(tx, 'referral.created', toEventData(referral), now)
  return refusal === undefined ? referral : reject(tx, referral, refusal, now)
}

/**
 * The order is paid and its referral counts: pending becomes unpaid, and the commission, less what has been refunded
 * by now, is earned. Any other status stays. So does the referral of an affiliate who is not active (any more), or whose
 * account has been shut: nothing is credited to him, and an operator accepts it once he is again, or rejects it.
 */
export function acceptReferral(tx: Tx, orderId: number, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral?.status !== 'pending') return
  if (isCreditable(tx, getAffiliateById(tx, referral.affiliateId))) accept(tx, referral, now)
}

/** Without asking whether it may be. One that had been paid out before it was rejected is paid again, by that payout. */
export function accept(tx: Tx, referral: ReferralRow, now: number): ReferralRow {
  adjustEarned(tx, referral, referral.amountMinor, 'accepted', now)
  const status = isPaidOut(tx, referral.id) ? 'paid' : 'unpaid'
  const accepted = storeReferral(tx, referral, { status, rejectedFor: null, acceptedAt: now }, now)
  emit(tx, 'referral.accepted', toEventData(accepted), now)
  return accepted
}

/**
 * The order earns its affiliate nothing: whatever the referral's status, it becomes rejected, and what it had earned is
 * taken back. A referral that was paid already goes from paid to rejected too; the entry that takes the commission
 * back leaves the affiliate owing it, until a payout sets it off.
 *
 * A reason that begins with `order_` speaks of the order's state and can pass (`reopenReferral`); any other (`self`, an
 * operator's) is for good, and replaces an order's. `order_refunded` ends the amount at zero, since that is what
 * is left after the refund; otherwise it stays to be seen and to be revived.
 */
export function rejectReferral(tx: Tx, orderId: number, reason: string, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral !== undefined) reject(tx, referral, reason, now)
}

/** The same by the referral itself. */
export function reject(tx: Tx, referral: ReferralRow, reason: string, now: number): ReferralRow {
  const amountMinor = reason === 'order_refunded' ? 0 : referral.amountMinor
  if (referral.status === 'rejected') {
    const rejectedFor = replaces(reason, referral.rejectedFor) ? reason : referral.rejectedFor
    return storeReferral(tx, referral, { rejectedFor, amountMinor }, now)
  }
  adjustEarned(tx, referral, 0, reason, now)
  const rejected = storeReferral(tx, referral, { status: 'rejected', rejectedFor: reason, amountMinor }, now)
  emit(tx, 'referral.rejected', { ...toEventData(rejected), reason }, now)
  return rejected
}

function replaces(reason: string, known: string | null): boolean {
  return isOfOrder(known) && !isOfOrder(reason)
}

function isOfOrder(reason: string | null): boolean {
  return reason?.startsWith('order_') ?? false
}

/** A failed or cancelled order is on again: its referral, the same row, is pending as at first. */
export function reopenReferral(tx: Tx, orderId: number, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral?.status !== 'rejected' || !isOfOrder(referral.rejectedFor)) return
  storeReferral(tx, referral, { status: 'pending', rejectedFor: null, acceptedAt: null }, now)
}

/**
 * Part of the order was refunded: its referral's amount falls by the same share, whatever the status, which stays. What
 * had been earned is taken back in the ledger; from a referral that is paid already that leaves a negative entry for
 * the next payout.
 *
 * @param order `refundedMinor` is all that has been refunded by now, this time included.
 */
export function reduceCommission(
  tx: Tx,
  orderId: number,
  order: { refundedMinor: number; totalMinor: number },
  now: number
): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral === undefined) return
  const amountMinor = Math.min(referral.amountMinor, netCommissionMinor(order, referral.rateBps))
  if (amountMinor === referral.amountMinor) return
  if (referral.status === 'unpaid' || referral.status === 'paid') {
    adjustEarned(tx, referral, amountMinor, 'order_partly_refunded', now)
  }
  storeReferral(tx, referral, { amountMinor }, now)
}

/**
 * A refund that had been recorded never reached the buyer: the commission follows what is refunded now. A referral that
 * was rejected because its order was refunded counts again; one that was rejected for another reason stays rejected.
 *
 * @param order `refundedMinor` is what remains refunded
 */
export function restoreCommission(
  tx: Tx,
  orderId: number,
  order: { refundedMinor: number; totalMinor: number },
  now: number
): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral === undefined) return
  const wasRefunded = referral.status === 'rejected' && referral.rejectedFor === 'order_refunded'
  if (referral.status === 'rejected' && !wasRefunded) return
  const amountMinor = netCommissionMinor(order, referral.rateBps)
  const change = wasRefunded ? ({ amountMinor, status: 'pending', rejectedFor: null } as const) : { amountMinor }
  const restored = storeReferral(tx, referral, change, now)
  if (wasRefunded && referral.acceptedAt !== null) accept(tx, restored, now)
  else if (referral.status === 'unpaid' || referral.status === 'paid')
    adjustEarned(tx, referral, amountMinor, 'refund_failed', now)
}
