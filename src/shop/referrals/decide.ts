import type { ReferralRow } from './rows.ts'
import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { isCreditable } from '../affiliates/credit.ts'
import { getReferral } from './find.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { accept, reject } from './referrals.ts'

/** Referrals must not import orders, so the caller passes this function. */
export type IsOrderPaid = (orderId: number) => boolean

const byOperator = 'operator'

/**
 * An operator accepts a pending referral (when `affiliates.autoAccept` is off), or one that an operator rejected before.
 * An accepted referral does not change.
 *
 * @param isOrderPaid whether the order is processing or completed
 * @throws AppError NOT_FOUND; TRANSITION_REFUSED when the order is not paid, when the referral was rejected for another
 *   reason, and while the affiliate or the user account is not active
 */
export function acceptAsOperator(tx: Tx, referralId: number, isOrderPaid: IsOrderPaid, now: number): ReferralRow {
  const referral = getReferral(tx, referralId)
  if (referral.status === 'unpaid' || referral.status === 'paid') return referral
  if (referral.status === 'rejected' && !referral.rejectedFor?.startsWith(byOperator)) {
    throw refused(referral, `was rejected (${referral.rejectedFor ?? 'no reason given'})`)
  }
  if (!isOrderPaid(referral.orderId)) throw refused(referral, 'belongs to an order that is not paid')
  if (!isCreditable(tx, getAffiliateById(tx, referral.affiliateId))) {
    throw refused(referral, 'belongs to an affiliate who is not active')
  }
  return accept(tx, referral, now)
}

/**
 * An operator rejects a referral, with the effects of `rejectReferral`. A later payment of the order does not reopen it.
 *
 * @param reason free text; may be empty
 * @throws AppError NOT_FOUND
 */
export function rejectAsOperator(tx: Tx, referralId: number, reason: string, now: number): ReferralRow {
  const text = reason.trim()
  return reject(tx, getReferral(tx, referralId), text === '' ? byOperator : `${byOperator}: ${text}`, now)
}

function refused({ id, status }: ReferralRow, why: string): AppError {
  return new AppError('TRANSITION_REFUSED', `Referral ${id} ${why}.`, { from: status, to: 'unpaid' })
}
