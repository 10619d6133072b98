import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { recordVisit } from '../affiliates/clicks.ts'
import { getAffiliate } from '../affiliates/find.ts'
import { mailAffiliate } from '../affiliates/notify.ts'
import type { AffiliateRow } from '../affiliates/find.ts'
import { isCreditable } from '../affiliates/credit.ts'
import { findAttribution, getOrder } from '../orders/find.ts'
import { checkReferral, isBuyerTheAffiliate } from '../orders/review.ts'
import { goodsOf } from '../orders/refunds/refund-lines.ts'
import { recordBonus } from '../referrals/ledger.ts'
import { createReferral, reduceCommission } from '../referrals/referrals.ts'
import type { ReferralRow } from '../referrals/store.ts'
import { emit } from '../webhooks/emit.ts'
import { setting } from '../settings/settings.ts'
import { attributeTo } from '../orders/attribution.ts'
import { hasMoneyOf } from './held.ts'
import { acceptAsOperator } from './decide-referral.ts'

/**
 * Adds an amount to what an affiliate is owed, without an order, with the operator's reason. It is due with the next
 * payout. A negative amount corrects an earlier one.
 *
 * @param amountMinor minor units of the shop's currency, not zero
 * @throws AppError NOT_FOUND; VALIDATION_FAILED (`amount`)
 */
export function giveBonus(
  db: Db,
  ref: string,
  { amountMinor, reason }: { amountMinor: number; reason: string },
  now: number
): AffiliateRow {
  if (amountMinor === 0) throw validationFailed({ amount: ['Must not be zero.'] })
  return write(db, (tx) => {
    const affiliate = getAffiliate(tx, ref)
    const currency = setting(tx, 'shop.currency')
    recordBonus(tx, { affiliateId: affiliate.id, currency }, { amountMinor, reason }, now)
    const bonus = { affiliateId: affiliate.id, amountMinor, currency, reason }
    const eventId = emit(tx, 'affiliate.bonus', bonus, now)
    mailAffiliate(tx, { template: 'affiliate_bonus', data: bonus, eventId }, now)
    return affiliate
  })
}

/**
 * Credits an affiliate with an order that has no affiliate, because its link or coupon was lost: with visit, referral and the
 * attribution of a link. The commission of a paid order is accepted at once, after its refunds.
 *
 * @throws AppError NOT_FOUND; CONFLICT for an order that has an affiliate, for one of the affiliate's own, for goods that
 *   cost nothing, and for an affiliate who is not active
 */
export function creditMissedOrder(
  db: Db,
  orderId: number,
  { ref, reason }: { ref: string; reason: string },
  now: number
): ReferralRow {
  return write(db, (tx) => {
    const order = getOrder(tx, orderId)
    const affiliate = getAffiliate(tx, ref)
    const refuse = (why: string): Error => new AppError('CONFLICT', `Order ${orderId} ${why}.`)
    const attribution = findAttribution(tx, orderId)
    if (attribution === undefined) throw refuse('has no attribution')
    if (attribution.affiliateId !== null) throw refuse('has an affiliate already')
    if (!isCreditable(tx, affiliate)) throw refuse('cannot be credited: the affiliate is not active')
    const visitId = recordVisit(tx, { affiliateId: affiliate.id, orderId, campaign: null }, now)
    const utm = {
      utmSource: `affiliate:${affiliate.code}`,
      utmMedium: 'affiliate',
      utmContent: `visit:${visitId}`
    }
    attributeTo(tx, affiliate, { orderId, visitId, ...utm, creditedBy: 'operator' })
    if (isBuyerTheAffiliate(tx, order)) throw refuse('is one of the affiliate')
    const base = { affiliate, orderId, visitId, goods: goodsOf(tx, order), currency: order.currency, byHand: true }
    const referral = createReferral(tx, base, now)
    if (referral === undefined) throw refuse('has goods that cost nothing')
    if (order.refundedMinor > 0) reduceCommission(tx, orderId, goodsOf(tx, order), now)
    checkReferral(tx, order, now)
    const [referralId, affiliateId] = [referral.id, affiliate.id]
    const eventId = emit(tx, 'referral.credited', { referralId, affiliateId, orderId, reason }, now)
    const told = { affiliateId, referralIds: [referralId], decision: 'credited', reason } as const
    mailAffiliate(tx, { template: 'affiliate_referrals', data: told, eventId }, now)
    return hasMoneyOf(tx, orderId) ? acceptAsOperator(tx, referral.id, now) : referral
  })
}
