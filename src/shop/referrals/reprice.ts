import type { Tx } from '../../platform/db/database.ts'
import { netCommissionMinor } from './commission.ts'
import { findReferralOfOrder } from './find.ts'
import { reject } from './referrals.ts'
import { storeReferral } from './store.ts'

/**
 * An order that nobody has paid yet costs another sum: its pending referral follows at the rate that it has. Nothing is
 * credited for an order that now costs nothing.
 */
export function repriceReferral(tx: Tx, orderId: number, totalMinor: number, now: number): void {
  const referral = findReferralOfOrder(tx, orderId)
  if (referral?.status !== 'pending') return
  const amountMinor = netCommissionMinor({ totalMinor, refundedMinor: 0 }, referral.rateBps)
  const repriced = storeReferral(tx, referral, { amountMinor }, now)
  if (totalMinor === 0) reject(tx, repriced, 'nothing_to_pay', now)
}
