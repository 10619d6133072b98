import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { isCreditable } from '../affiliates/credit.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { mailAffiliate } from '../affiliates/notify.ts'
import { getOrder } from '../orders/find.ts'
import { isBuyerTheAffiliate } from '../orders/review.ts'
import { getReferral } from '../referrals/store.ts'
import { accept, reject } from '../referrals/referrals.ts'
import type { ReferralRow } from '../referrals/store.ts'
import { byOperator, isAccepted } from '../referrals/states.ts'
import { hasMoneyOf } from './held.ts'

/**
 * An operator accepts a pending referral (in review, or when `affiliates.autoAccept` is off), one that an operator rejected
 * before, one of a known customer, or one of the affiliate's own order whose email was corrected.
 * An accepted referral does not change.
 *
 * @throws AppError NOT_FOUND; TRANSITION_REFUSED when the order is not paid, when the referral was rejected for another
 *   reason, and while the affiliate or the user account is not active
 */
export function acceptAsOperator(db: Db, referralId: number, now: number): ReferralRow {
  return write(db, (tx) => {
    const referral = getReferral(tx, referralId)
    if (isAccepted(referral.status)) return referral
    if (referral.status === 'rejected' && !mayBeAccepted(tx, referral)) {
      throw refused(referral, `was rejected (${referral.rejectedFor ?? 'no reason recorded'})`)
    }
    if (!hasMoneyOf(tx, referral.orderId)) throw refused(referral, 'belongs to an order that is not paid')
    if (!isCreditable(tx, getAffiliateById(tx, referral.affiliateId))) {
      throw refused(referral, 'belongs to an affiliate who is not active')
    }
    return accept(tx, referral, now)
  })
}

/**
 * An operator rejects a referral, with the effects of `rejectReferral`. A later payment of the order does not reopen it.
 *
 * @param reason free text; may be empty
 * @throws AppError NOT_FOUND
 */
export function rejectAsOperator(db: Db, referralId: number, reason: string, now: number): ReferralRow {
  const text = reason.trim()
  const rejectedFor = text === '' ? byOperator : `${byOperator}: ${text}`
  return write(db, (tx) => reject(tx, getReferral(tx, referralId), rejectedFor, now))
}

/** A rejection as the buyer's own can be undone once the order's email was corrected, and that of a known customer always. */
function mayBeAccepted(tx: Tx, { rejectedFor, orderId }: ReferralRow): boolean {
  if (rejectedFor === 'self' || rejectedFor === 'known_customer') return !isBuyerTheAffiliate(tx, getOrder(tx, orderId))
  return rejectedFor?.startsWith(byOperator) ?? false
}

/**
 * Accepts or rejects several referrals for an operator, all or none. Each affiliate gets one email about those that changed.
 *
 * @throws AppError as `acceptAsOperator` and `rejectAsOperator`
 */
export function decideReferrals(
  db: Db,
  ids: readonly number[],
  decision: { accept: true } | { accept: false; reason: string },
  now: number
): ReferralRow[] {
  return write(db, (tx) => {
    const before = ids.map((id) => getReferral(tx, id))
    const decided = ids.map((id) =>
      decision.accept ? acceptAsOperator(tx, id, now) : rejectAsOperator(tx, id, decision.reason, now)
    )
    const changed = decided.filter(({ status }, index) => status !== before[index]?.status)
    for (const [affiliateId, rows] of Map.groupBy(changed, (row) => row.affiliateId)) {
      const told = decision.accept
        ? ({ decision: 'accepted', reason: null } as const)
        : ({ decision: 'rejected', reason: decision.reason.trim() || null } as const)
      const data = { affiliateId, referralIds: rows.map(({ id }) => id), ...told }
      mailAffiliate(tx, { template: 'affiliate_referrals', data }, now)
    }
    return decided
  })
}

function refused({ id, status }: ReferralRow, why: string): AppError {
  return new AppError('TRANSITION_REFUSED', `Referral ${id} ${why}.`, { from: status, to: 'unpaid' })
}
