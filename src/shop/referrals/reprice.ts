import type { Tx } from '../../platform/db/database.ts'
import { netCommissionMinor } from './commission.ts'
import { findReferralOfOrder } from './find.ts'
import { reject } from './referrals.ts'
import { storeReferral } from './store-referral.ts'

/**
 * Recomputes the commission of a pending referral when the goods of its unpaid order cost something else. The rate stays.
 * Goods that cost nothing reject the referral (`nothing_to_pay`).
 *
 * @param baseMinor the goods after discounts, without shipping and tax
 */
export function repriceReferral(tx: Tx, orderId: number, baseMinor: number, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral?.status !== 'pending') return
  const amountMinor = netCommissionMinor({ baseMinor, totalMinor: baseMinor, refundedMinor: 0 }, referral.rateBps)
  const repriced = storeReferral(tx, referral, { amountMinor }, now)
  if (baseMinor === 0) reject(tx, repriced, 'nothing_to_pay', now)
}
