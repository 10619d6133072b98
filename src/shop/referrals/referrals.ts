import { eq } from 'drizzle-orm'
import { shopDay } from '../settings/shop-days.ts'
import { currentRateBps } from '../affiliates/view.ts'
import type { ReferralRow } from './store.ts'
import { referrals } from './schema.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { emit } from '../webhooks/emit.ts'
import { isCreditable } from '../affiliates/credit.ts'
import { findReferralOfOrder, storeReferral, toEventData } from './store.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { isPaidOut, adjustEarned } from './ledger.ts'
import type { AffiliateRow } from '../affiliates/find.ts'
import { isAccepted } from './states.ts'
import type { ReviewReason } from './states.ts'
import { netCommissionMinor } from './commission.ts'
import type { CommissionBase } from './commission.ts'

export type NewReferral = {
  affiliate: AffiliateRow
  orderId: number
  visitId: number
  /** The goods of the order after discounts, without shipping and tax, in minor units of `currency`. */
  baseMinor: number
  currency: string
  /** Rejects the referral immediately and finally, for this reason (`self`). */
  reject?: string
}

/**
 * Creates the pending referral of a new order, at the affiliate's current rate, which the referral keeps. Returns
 * undefined, without a referral, for goods that cost nothing and for an affiliate who is not active.
 */
export function createReferral(tx: Tx, input: NewReferral, now: number): ReferralRow | undefined {
  const { affiliate, orderId, visitId, baseMinor, currency, reject: refusal } = input
  if (baseMinor === 0 || affiliate.status !== 'active') return undefined
  const rateBps = currentRateBps(tx, affiliate)
  const amountMinor = netCommissionMinor({ baseMinor, goodsMinor: baseMinor, refundedGoodsMinor: 0 }, rateBps)
  const row = {
    affiliateId: affiliate.id,
    orderId,
    visitId,
    rateBps,
    amountMinor,
    currency,
    day: shopDay(tx, now)
  }
  const referral = tx.orm
    .insert(referrals)
    .values({ ...row, status: 'pending', createdAt: now, updatedAt: now })
    .returning()
    .get()
  emit(tx, 'referral.created', toEventData(referral), now)
  return refusal === undefined ? referral : reject(tx, referral, refusal, now)
}

/**
 * Moves the referral of an unpaid order to another affiliate, as if the order had been created with it. Creates one if the
 * order has none.
 */
export function moveReferral(tx: Tx, input: NewReferral, now: number): void {
  const { affiliate, orderId, visitId, baseMinor } = input
  const before = findReferralOfOrder(tx, orderId)
  if (before === undefined) return void createReferral(tx, input, now)
  if (isAccepted(before.status)) return
  if (before.status === 'pending') emit(tx, 'referral.rejected', { ...toEventData(before), reason: 'outranked' }, now)
  const rateBps = currentRateBps(tx, affiliate)
  const amountMinor = netCommissionMinor({ baseMinor, goodsMinor: baseMinor, refundedGoodsMinor: 0 }, rateBps)
  const moved = tx.orm
    .update(referrals)
    .set({ affiliateId: affiliate.id, visitId, rateBps, amountMinor, ...pending, updatedAt: now })
    .where(eq(referrals.id, before.id))
    .returning()
    .get()
  emit(tx, 'referral.created', toEventData(moved), now)
}

const pending = { status: 'pending', rejectedFor: null, review: null, acceptedAt: null } as const

/**
 * Accepts the referral of a paid order: `pending` becomes `unpaid`, and the commission after refunds is earned. A referral
 * with another status does not change. If the affiliate or the user account is not active, or if there are reasons for a
 * review, the referral stays pending, and an operator accepts or rejects it later.
 */
export function acceptReferral(tx: Tx, orderId: number, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral?.status !== 'pending' || referral.review !== null) return
  if (isCreditable(tx, getAffiliateById(tx, referral.affiliateId))) accept(tx, referral, now)
}

/**
 * Accepts a referral without checks. If an earlier payout covers it (it was paid out, then rejected), its status becomes
 * `paid` again.
 */
export function accept(tx: Tx, referral: ReferralRow, now: number): ReferralRow {
  adjustEarned(tx, referral, referral.amountMinor, 'accepted', now)
  const status = isPaidOut(tx, referral.id) ? 'paid' : 'unpaid'
  const accepted = storeReferral(tx, referral, { status, rejectedFor: null, acceptedAt: now }, now)
  emit(tx, 'referral.accepted', toEventData(accepted), now)
  return accepted
}

/**
 * Rejects the referral of an order, whatever its status, and takes back what it has earned. If it was already paid out,
 * the affiliate owes the commission, and a later payout sets it off.
 *
 * A reason that starts with `order_` depends on the order's status and can be undone (`reopenReferral`). Any other reason
 * (`self`, an operator's) is final and replaces an `order_` reason. `order_refunded` sets the amount to zero; other
 * reasons keep the amount for display and for reopening.
 */
export function rejectReferral(tx: Tx, orderId: number, reason: string, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral !== undefined) reject(tx, referral, reason, now)
}

/** As `rejectReferral`, for a given referral. */
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
  return isOrderReason(known) && !isOrderReason(reason)
}

function isOrderReason(reason: string | null): boolean {
  return reason?.startsWith('order_') ?? false
}

/** Whether a payment of the order, now or after a failure, still makes it count. */
function mayBePaidLater({ status, rejectedFor }: ReferralRow): boolean {
  return status === 'pending' || (status === 'rejected' && isOrderReason(rejectedFor))
}

/** Why the referral of an order was rejected for good, such as `self`; null without one, and for the order's own state. */
export function finalRefusalOf(db: Db, orderId: number): string | null {
  const reason = findReferralOfOrder(db, orderId)?.rejectedFor ?? null
  return isOrderReason(reason) ? null : reason
}

/** Stores why an operator must decide about the pending referral of an order; without reasons, none must. */
export function reviewReferral(tx: Tx, orderId: number, reasons: ReviewReason[], now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral?.status !== 'pending') return
  const review = reasons.length === 0 ? null : reasons
  if (JSON.stringify(review) !== JSON.stringify(referral.review)) storeReferral(tx, referral, { review }, now)
}

/** Makes the referral of a failed or cancelled order pending again, because the order is paid or open again. */
export function reopenReferral(tx: Tx, orderId: number, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral?.status !== 'rejected' || !mayBePaidLater(referral)) return
  storeReferral(tx, referral, { status: 'pending', rejectedFor: null, acceptedAt: null }, now)
}

/**
 * Reduces the commission after a partial refund by the refunded share of the goods. The status does not change. The ledger takes back
 * what was earned; for a referral that is already paid out this is a debt for the next payout.
 *
 * @param order.refundedGoodsMinor what all refunds so far returned of the goods, including this one
 */
export function reduceCommission(tx: Tx, orderId: number, order: CommissionBase, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral === undefined) return
  const amountMinor = Math.min(referral.amountMinor, netCommissionMinor(order, referral.rateBps))
  if (amountMinor === referral.amountMinor) return
  if (isAccepted(referral.status)) {
    adjustEarned(tx, referral, amountMinor, 'order_partly_refunded', now)
  }
  storeReferral(tx, referral, { amountMinor }, now)
}

/**
 * Restores the commission after a recorded refund has failed. A referral that was rejected because of the refund is
 * pending or accepted again; one that was rejected for another reason stays rejected, with the amount that counts if it is
 * accepted later.
 *
 * @param order.refundedGoodsMinor what the refunds that remain returned of the goods
 */
export function restoreCommission(tx: Tx, orderId: number, order: CommissionBase, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral === undefined) return
  const wasRefunded = referral.status === 'rejected' && referral.rejectedFor === 'order_refunded'
  const amountMinor = netCommissionMinor(order, referral.rateBps)
  const change = wasRefunded ? ({ amountMinor, status: 'pending', rejectedFor: null } as const) : { amountMinor }
  const restored = storeReferral(tx, referral, change, now)
  if (wasRefunded && referral.acceptedAt !== null) accept(tx, restored, now)
  else if (isAccepted(referral.status)) adjustEarned(tx, referral, amountMinor, 'refund_failed', now)
}

/**
 * Recomputes the commission when the goods of an unpaid order cost something else, also of an order that failed and can be
 * paid later. The rate stays. Goods that cost nothing reject the referral (`nothing_to_pay`).
 *
 * @param baseMinor the goods after discounts, without shipping and tax
 */
export function repriceReferral(tx: Tx, orderId: number, baseMinor: number, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral === undefined || !mayBePaidLater(referral)) return
  const amountMinor = netCommissionMinor({ baseMinor, goodsMinor: baseMinor, refundedGoodsMinor: 0 }, referral.rateBps)
  const repriced = storeReferral(tx, referral, { amountMinor }, now)
  if (baseMinor === 0) reject(tx, repriced, 'nothing_to_pay', now)
}
