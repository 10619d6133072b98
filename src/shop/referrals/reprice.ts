import type { Tx } from '../../platform/db/database.ts'
import { netCommissionMinor } from './commission.ts'
import { findReferralOfOrder } from './find.ts'
import { reject } from './referrals.ts'
import { storeReferral } from './store-referral.ts'

/**
 * Recomputes the commission of a pending referral when the total of its unpaid order changes. The rate stays. A total of
 * zero rejects the referral (`nothing_to_pay`).
 */
export function repriceReferral(tx: Tx, orderId: number, totalMinor: number, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral?.status !== 'pending') return
  const amountMinor = netCommissionMinor({ totalMinor, refundedMinor: 0 }, referral.rateBps)
  const repriced = storeReferral(tx, referral, { amountMinor }, now)
  if (totalMinor === 0) reject(tx, repriced, 'nothing_to_pay', now)
}
