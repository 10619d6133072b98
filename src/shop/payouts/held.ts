import { and, count, eq, getTableColumns, inArray, isNotNull, isNull, sum } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { getUserById } from '../accounts/find.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { findOrder } from '../orders/find.ts'
import { orders } from '../orders/schema.ts'
import { isPaidStatus, orderStatuses } from '../orders/states.ts'
import { paymentWarnings } from '../payments/schema.ts'
import { referrals } from '../referrals/schema.ts'
import { isAccepted } from '../referrals/states.ts'
import type { ReferralStatus } from '../referrals/states.ts'
import type { ReferralRow } from '../referrals/store.ts'
import { setting } from '../settings/settings.ts'

/** Why no payout includes a commission yet. */
export type HeldReason =
  /** It was accepted less than `affiliates.payoutHoldDays` days ago. */
  | 'hold_days'
  /** Its order is in dispute, or not paid for another reason. */
  | 'order_not_paid'
  /** The refund of its order failed, and an operator has not decided yet what happens with the money. */
  | 'refund_failed'
  /** The account of the affiliate is erased, so the shop cannot pay it. */
  | 'account_erased'
  /** An erased account earned it, and the mailbox of the new account is not verified. */
  | 'email_unverified'

const dayMs = 86_400_000
const paidStatuses = orderStatuses.filter(isPaidStatus)

type Commission = {
  affiliateId: number
  payeeId: number
  orderId: number | null
  status: ReferralStatus | null
  acceptedAt: number | null
}

/**
 * Why an amount is not due now; null for one that is. The order counts only for what it earned: what is owed for a rejected
 * referral was set off by one payout, and never arrived by another.
 */
export function whyHeld(db: Db, commission: Commission, now: number): HeldReason | null {
  const { orderId, status, acceptedAt } = commission
  const isEarned = orderId !== null && status !== null && isAccepted(status)
  return whyNotPayable(db, commission) ?? (isEarned ? whyOrderHolds(db, { orderId, acceptedAt }, now) : null)
}

function whyNotPayable(db: Db, { affiliateId, payeeId }: Commission): HeldReason | null {
  const payee = getUserById(db, getAffiliateById(db, payeeId).userId)
  if (payee.status === 'erased') return 'account_erased'
  return payeeId !== affiliateId && payee.emailVerifiedAt === null ? 'email_unverified' : null
}

function whyOrderHolds(
  db: Db,
  { orderId, acceptedAt }: { orderId: number; acceptedAt: number | null },
  now: number
): HeldReason | null {
  const order = findOrder(db, orderId)
  const isReturned = order?.status === 'refunded' && order.refundedMinor < order.totalMinor
  if (order === undefined || !(isPaidStatus(order.status) || isReturned)) return 'order_not_paid'
  if (isReturned && hasOpenRefundFailure(db, orderId)) return 'refund_failed'
  const dueBefore = now - setting(db, 'affiliates.payoutHoldDays') * dayMs
  return (acceptedAt ?? now) > dueBefore ? 'hold_days' : null
}

/**
 * Whether the shop has the money of an order for good: it is paid, or its refund failed at the bank and an operator has
 * closed the warning, because the buyer does not get the money.
 */
export function hasMoneyOf(db: Db, orderId: number): boolean {
  return whyOrderHolds(db, { orderId, acceptedAt: 0 }, Number.MAX_SAFE_INTEGER) === null
}

function hasOpenRefundFailure(db: Db, orderId: number): boolean {
  const open = db.orm
    .select({ id: paymentWarnings.id })
    .from(paymentWarnings)
    .where(
      and(
        eq(paymentWarnings.orderId, orderId),
        eq(paymentWarnings.kind, 'refund_failed'),
        isNull(paymentWarnings.resolvedAt)
      )
    )
    .get()
  return open !== undefined
}

/** Referrals of paid orders that an operator must accept or reject, by affiliate and currency. */
export type WaitingReferrals = { affiliateId: number; currency: string; referrals: number; amountMinor: number }

/** The referrals of paid orders that an operator must review, oldest first. */
export function referralsInReview(db: Db, { affiliateId }: { affiliateId?: number } = {}): ReferralRow[] {
  return db.orm
    .select(getTableColumns(referrals))
    .from(referrals)
    .innerJoin(orders, eq(orders.id, referrals.orderId))
    .where(and(isWaiting(affiliateId), isNotNull(referrals.review)))
    .orderBy(referrals.id)
    .all()
}

function isWaiting(affiliateId: number | undefined) {
  return and(
    eq(referrals.status, 'pending'),
    inArray(orders.status, paidStatuses),
    affiliateId === undefined ? undefined : eq(referrals.affiliateId, affiliateId)
  )
}

/**
 * The pending referrals of paid orders: while they were paid, the affiliate was not active, or `affiliates.autoAccept` was
 * off, or there are reasons for a review. They stay pending until an operator decides.
 */
export function waitingReferrals(db: Db, { affiliateId }: { affiliateId?: number } = {}): WaitingReferrals[] {
  const { currency, amountMinor } = referrals
  return db.orm
    .select({
      affiliateId: referrals.affiliateId,
      currency,
      referrals: count(),
      amountMinor: sum(amountMinor).mapWith(Number)
    })
    .from(referrals)
    .innerJoin(orders, eq(orders.id, referrals.orderId))
    .where(isWaiting(affiliateId))
    .groupBy(referrals.affiliateId, currency)
    .orderBy(referrals.affiliateId, currency)
    .all()
}
