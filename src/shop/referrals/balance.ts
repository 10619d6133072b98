import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { setting } from '../settings/settings.ts'
import { findAffiliateOfUser } from '../affiliates/find.ts'
import { requireAffiliate } from '../affiliates/gate.ts'
import { toAffiliate } from '../affiliates/view.ts'
import type { AffiliateView } from '../affiliates/view.ts'

/** An affiliate's balance in minor units of `currency`. */
export type Balance = {
  currency: string
  /** Commissions of pending referrals: their order is not paid, or they are not accepted yet. */
  pendingMinor: number
  /** What the shop owes according to the ledger. Negative when refunds after a payout exceed later commissions. */
  unpaidMinor: number
  /** The sum of all payouts. */
  paidMinor: number
}

const ledgerSums = rawStatement<[number, string], { unpaidMinor: number; paidMinor: number }>(
  `SELECT coalesce(sum(amount_minor), 0) AS unpaidMinor,
          coalesce(-sum(amount_minor) FILTER (WHERE kind = 'paid_out'), 0) AS paidMinor
   FROM commission_totals WHERE affiliate_id = ? AND currency = ?`
)
const pendingSum = rawStatement<[number, string], { pendingMinor: number }>(
  `SELECT coalesce(sum(amount_minor), 0) AS pendingMinor
   FROM referral_totals WHERE affiliate_id = ? AND currency = ? AND status = 'pending'`
)

/** An affiliate's balance in the shop's currency. */
export function balanceOf(db: Db, affiliateId: number): Balance {
  const currency = setting(db, 'shop.currency')
  const { pendingMinor = 0 } = pendingSum(db).get(affiliateId, currency) ?? {}
  const { unpaidMinor = 0, paidMinor = 0 } = ledgerSums(db).get(affiliateId, currency) ?? {}
  return { currency, pendingMinor, unpaidMinor, paidMinor }
}

/**
 * A user's affiliate account, with any status, and its balance.
 *
 * @throws AppError AFFILIATE_NOT_FOUND without one, or while the module is off
 */
export function getOwnAffiliate(db: Db, userId: number): { affiliate: AffiliateView; balance: Balance } {
  const affiliate = requireAffiliate(db, findAffiliateOfUser(db, userId))
  return { affiliate: toAffiliate(db, affiliate), balance: balanceOf(db, affiliate.id) }
}
