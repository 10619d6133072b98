import { and, between, eq, inArray, sum } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { toMinor } from '../../platform/money.ts'
import { erasedAccountsOf } from '../affiliates/former.ts'
import { setting } from '../settings/settings.ts'
import { referralTotals } from './schema.ts'
import { acceptedStatuses, isAccepted } from './states.ts'
import type { ReferralRow } from './store.ts'

/** The most that an order, and all orders of an affiliate in a month, may earn, in minor units; null without a cap. */
export type Caps = Pick<ReferralRow, 'orderCapMinor' | 'monthCapMinor'>

/** The caps of the shop, in a currency. A referral keeps those of the time when its order was placed. */
export function capsOf(db: Db, currency: string): Caps {
  const cap = (name: 'affiliates.orderCap' | 'affiliates.monthCap'): number | null => {
    const amount = setting(db, name)
    return amount === 0 ? null : toMinor(String(amount), currency)
  }
  return { orderCapMinor: cap('affiliates.orderCap'), monthCapMinor: cap('affiliates.monthCap') }
}

/** What an order earns: the commission of its lines, up to the cap. */
export function capByOrder(amountMinor: number, { orderCapMinor }: Pick<Caps, 'orderCapMinor'>): number {
  return Math.min(amountMinor, orderCapMinor ?? amountMinor)
}

/**
 * What an accepted referral earns: the amount, or what the other accepted referrals of the month in which its order was
 * placed leave of the cap, also those of the affiliate's erased accounts.
 */
export function capByMonth(db: Db, referral: ReferralRow, amountMinor: number): number {
  const { monthCapMinor, affiliateId, day, currency, status } = referral
  if (monthCapMinor === null) return amountMinor
  const month = day.slice(0, 7)
  const { affiliateId: whose, status: state } = referralTotals
  const ofMonth = and(
    inArray(whose, [affiliateId, ...erasedAccountsOf(db, affiliateId)]),
    between(referralTotals.day, `${month}-01`, `${month}-31`),
    eq(referralTotals.currency, currency),
    inArray(state, [...acceptedStatuses])
  )
  const total = db.orm
    .select({ minor: sum(referralTotals.amountMinor).mapWith(Number) })
    .from(referralTotals)
    .where(ofMonth)
    .get()
  const othersMinor = (total?.minor ?? 0) - (isAccepted(status) ? referral.amountMinor : 0)
  return Math.min(amountMinor, Math.max(0, monthCapMinor - othersMinor))
}
