import { eq } from 'drizzle-orm'
import { shopDay } from '../settings/shop-days.ts'
import { setting } from '../settings/settings.ts'
import type { ReferralRow } from './store.ts'
import { referrals } from './schema.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { emit } from '../webhooks/emit.ts'
import { isCreditable } from '../affiliates/credit.ts'
import { findReferralOfOrder, storeReferral, toEventData } from './store.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { rateOfShop } from '../affiliates/rates.ts'
import { isPaidOut, adjustEarned } from './ledger.ts'
import type { AffiliateRow } from '../affiliates/find.ts'
import { isAccepted } from './states.ts'
import type { RateSource, ReviewReason } from './states.ts'
import { decideLines } from './commission.ts'
import type { DecidedLine, Goods } from './commission.ts'
import { linesOf, storeLines, sumOfLines, takeBackAll, takeBackLines } from './lines.ts'
import { capByMonth, capByOrder, capsOf } from './caps.ts'
import type { Caps } from './caps.ts'

export type NewReferral = {
  affiliate: AffiliateRow
  orderId: number
  visitId: number
  goods: Goods
  /** Of the amounts of the goods. */
  currency: string
  /** Rejects the referral immediately and finally, for this reason (`self`). */
  reject?: string
  /** Whether an operator credits the order. Then it also counts if its buyer is a known customer. */
  byHand?: boolean
}

/**
 * Creates the pending referral of a new order, at the rates, caps and rules of the moment, which it keeps. Returns undefined, without a
 * referral, for goods that cost nothing and for an affiliate who is not active. Goods that are all excluded reject it.
 */
export function createReferral(tx: Tx, input: NewReferral, now: number): ReferralRow | undefined {
  const { affiliate, orderId, visitId, goods, currency, reject: refusal, byHand = false } = input
  if (baseOf(goods) === 0 || affiliate.status !== 'active') return undefined
  const shopRateBps = rateOfShop(tx)
  const decided = decideLines(tx, goods, { affiliateId: affiliate.id, at: now, shopRateBps })
  const caps = capsOf(tx, currency)
  const newCustomersOnly = !byHand && setting(tx, 'affiliates.newCustomers')
  const terms = { shopRateBps, ...caps, newCustomersOnly }
  const row = { affiliateId: affiliate.id, orderId, visitId, ...terms, currency, day: shopDay(tx, now) }
  const referral = tx.orm
    .insert(referrals)
    .values({ ...row, ...summaryOf(decided, caps), status: 'pending', createdAt: now, updatedAt: now })
    .returning()
    .get()
  storeLines(tx, referral.id, decided)
  emit(tx, 'referral.created', toEventData(referral), now)
  const reason = refusal ?? (isExcluded(decided) ? 'order_excluded' : undefined)
  return reason === undefined ? referral : reject(tx, referral, reason, now)
}

function baseOf({ lines }: Goods): number {
  return lines.reduce((sum, { baseMinor }) => sum + baseMinor, 0)
}

function summaryOf(lines: readonly DecidedLine[], caps: Caps) {
  const [first, ...others] = new Set(lines.map(({ rateBps }) => rateBps))
  const amountMinor = lines.reduce((sum, { commissionMinor }) => sum + commissionMinor, 0)
  return { amountMinor: capByOrder(amountMinor, caps), rateBps: others.length === 0 ? (first ?? null) : null }
}

function isExcluded(lines: readonly { source: RateSource }[]): boolean {
  return lines.length > 0 && lines.every(({ source }) => source === 'excluded')
}

/**
 * Moves the referral of an unpaid order to another affiliate, as if the order had been created with it. Creates one if the
 * order has none.
 */
export function moveReferral(tx: Tx, input: NewReferral, now: number): void {
  const { affiliate, orderId, visitId, goods } = input
  const before = findReferralOfOrder(tx, orderId)
  if (before === undefined) return void createReferral(tx, input, now)
  if (isAccepted(before.status)) return
  if (before.status === 'pending') emit(tx, 'referral.rejected', { ...toEventData(before), reason: 'outranked' }, now)
  const owner = { affiliateId: affiliate.id, visitId }
  const decided = decideAgain(tx, { ...before, ...owner }, goods)
  const moved = tx.orm
    .update(referrals)
    .set({ ...owner, ...pending, ...summaryOf(decided, before), updatedAt: now })
    .where(eq(referrals.id, before.id))
    .returning()
    .get()
  emit(tx, 'referral.created', toEventData(moved), now)
}

function decideAgain(
  tx: Tx,
  { id, affiliateId, createdAt: at, shopRateBps }: ReferralRow,
  goods: Goods
): DecidedLine[] {
  const decided = decideLines(tx, goods, { affiliateId, at, shopRateBps })
  storeLines(tx, id, decided)
  return decided
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
  if (isExcluded(linesOf(tx, referral.id))) return void reject(tx, referral, 'order_excluded', now)
  if (isCreditable(tx, getAffiliateById(tx, referral.affiliateId))) accept(tx, referral, now)
}

/**
 * Accepts a referral without checks, for what the cap of its month leaves. If an earlier payout covers it (it was paid out, then rejected), its status becomes
 * `paid` again.
 */
export function accept(tx: Tx, referral: ReferralRow, now: number): ReferralRow {
  const amountMinor = capByMonth(tx, referral, amountOfLines(tx, referral))
  adjustEarned(tx, referral, amountMinor, 'accepted', now)
  const status = isPaidOut(tx, referral.id) ? 'paid' : 'unpaid'
  const accepted = storeReferral(tx, referral, { status, amountMinor, rejectedFor: null, acceptedAt: now }, now)
  emit(tx, 'referral.accepted', toEventData(accepted), now)
  return accepted
}

/**
 * Rejects the referral of an order, whatever its status, and takes back what it has earned. If it was already paid out,
 * the affiliate owes the commission, and a later payout sets it off.
 *
 * A reason that starts with `order_` depends on the order's status and can be undone (`reopenReferral`). Any other reason
 * (`self`, an operator's) is final and replaces an `order_` reason. `order_refunded` takes back every line; other
 * reasons keep the amount for display and for reopening.
 */
export function rejectReferral(tx: Tx, orderId: number, reason: string, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral !== undefined) reject(tx, referral, reason, now)
}

/** As `rejectReferral`, for a given referral. */
export function reject(tx: Tx, referral: ReferralRow, reason: string, now: number): ReferralRow {
  const isRefunded = reason === 'order_refunded'
  if (isRefunded) takeBackAll(tx, referral.id)
  const amountMinor = isRefunded ? 0 : referral.amountMinor
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
  if (referral?.status !== 'rejected' || !mayBePaidLater(referral) || referral.rejectedFor === 'order_excluded') return
  storeReferral(tx, referral, { status: 'pending', rejectedFor: null, acceptedAt: null }, now)
}

/**
 * Reduces the commission after a partial refund: of each line by the share of it that was returned. The status does not
 * change. The ledger takes back what was earned; for a referral that is already paid out this is a debt for the next payout.
 *
 * @param goods with what all refunds so far returned of each line, including this one
 */
export function reduceCommission(tx: Tx, orderId: number, goods: Goods, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral === undefined) return
  takeBackLines(tx, referral.id, goods)
  const leftMinor = amountOfLines(tx, referral)
  const accepted = isAccepted(referral.status)
  // The cap of the month may have left less than that.
  const amountMinor = accepted ? Math.min(leftMinor, referral.amountMinor) : leftMinor
  if (amountMinor === referral.amountMinor) return
  if (accepted) adjustEarned(tx, referral, amountMinor, 'order_partly_refunded', now)
  storeReferral(tx, referral, { amountMinor }, now)
}

/** A commission of another shop for an order without goods here has no lines, and stays as it is. */
function amountOfLines(tx: Tx, referral: ReferralRow): number {
  const lines = linesOf(tx, referral.id)
  return lines.length === 0 ? referral.amountMinor : capByOrder(sumOfLines(lines), referral)
}

/**
 * Restores the commission after a recorded refund has failed. A referral that was rejected because of the refund is
 * pending or accepted again; one that was rejected for another reason stays rejected, with the amount that counts if it is
 * accepted later.
 *
 * @param goods with what the refunds that remain returned of each line
 */
export function restoreCommission(tx: Tx, orderId: number, goods: Goods, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral === undefined) return
  const wasRefunded = referral.status === 'rejected' && referral.rejectedFor === 'order_refunded'
  takeBackLines(tx, referral.id, goods)
  const accepted = isAccepted(referral.status)
  const leftMinor = amountOfLines(tx, referral)
  const amountMinor = accepted ? capByMonth(tx, referral, leftMinor) : leftMinor
  const change = wasRefunded ? ({ amountMinor, status: 'pending', rejectedFor: null } as const) : { amountMinor }
  const restored = storeReferral(tx, referral, change, now)
  if (wasRefunded && referral.acceptedAt !== null) accept(tx, restored, now)
  else if (accepted) adjustEarned(tx, referral, amountMinor, 'refund_failed', now)
}

/**
 * Decides the commission of each line again when the goods of an unpaid order or what they cost has changed, also of an
 * order that failed and can be paid later. The rates stay those of the time when it was placed. Goods that cost nothing
 * reject the referral (`nothing_to_pay`).
 */
export function repriceReferral(tx: Tx, orderId: number, goods: Goods, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral === undefined || !mayBePaidLater(referral)) return
  const decided = decideAgain(tx, referral, goods)
  const isFree = baseOf(goods) === 0
  const earnsAgain = referral.rejectedFor === 'order_excluded' && !isExcluded(decided)
  const change = earnsAgain ? ({ status: 'pending', rejectedFor: null } as const) : {}
  const repriced = storeReferral(tx, referral, { ...summaryOf(decided, referral), ...change }, now)
  if (isFree) reject(tx, repriced, 'nothing_to_pay', now)
  else if (isExcluded(decided)) reject(tx, repriced, 'order_excluded', now)
}
