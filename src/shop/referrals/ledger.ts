import type { Balance } from './shapes.ts'
import { and, asc, eq, sql, sum } from 'drizzle-orm'
import type { CommissionEntryRow, ReferralRow } from './store.ts'
import { commissionEntries, commissionTotals, referralTotals } from './schema.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { setting } from '../settings/settings.ts'
import { couponsOfAffiliate } from '../affiliates/coupons.ts'
import { findAffiliateOfUser } from '../affiliates/find.ts'
import { homeLink } from '../affiliates/link.ts'
import type { ShopContext } from '../context.ts'
import { erasedAccountsOf } from '../affiliates/former.ts'
import { requireAffiliate } from '../affiliates/gate.ts'
import { toAffiliate } from '../affiliates/view.ts'
import type { AffiliateView } from '../affiliates/view.ts'

/** What an entry is about; `id` is that of the referral, null for an entry without one. */
export type EntryOrigin = Pick<ReferralRow, 'affiliateId' | 'currency'> & { id: number | null }

const entriesByReferral = statement((orm) =>
  orm
    .select()
    .from(commissionEntries)
    .where(eq(commissionEntries.referralId, sql.placeholder('referralId')))
    .orderBy(asc(commissionEntries.id))
    .prepare()
)

/** A referral's ledger entries, oldest first. */
export function entriesOf(db: Db, referralId: number): CommissionEntryRow[] {
  return entriesByReferral(db).all({ referralId })
}

/** Whether payouts cover everything that a referral has earned. */
export function isPaidOut(db: Db, referralId: number): boolean {
  const entries = entriesOf(db, referralId)
  return sumOf(entries) <= 0 && entries.some(({ kind }) => kind === 'paid_out')
}

/**
 * Adjusts the commission that a referral has earned to `targetMinor` by one ledger entry: `earned` for an increase,
 * `taken_back` for a decrease, none when it is equal. Payouts do not change. If more was paid out than is earned, the
 * referral's entries have a negative sum, which reduces the affiliate's next payout.
 */
export function adjustEarned(
  tx: Tx,
  referral: EntryOrigin & Pick<ReferralRow, 'id'>,
  targetMinor: number,
  reason: string,
  now: number
): void {
  const earned = entriesOf(tx, referral.id).filter(({ kind }) => kind !== 'paid_out')
  const change = targetMinor - sumOf(earned)
  if (change === 0) return
  const kind = change > 0 ? 'earned' : 'taken_back'
  addEntry(tx, referral, { payoutId: null, kind, amountMinor: change, reason, at: now })
}

/** Records that a payout includes the amount owed for a referral. A negative `owedMinor` is a debt that the payout sets off. */
export function recordPaidOut(
  tx: Tx,
  referral: EntryOrigin,
  payout: { id: number; owedMinor: number },
  now: number
): void {
  const reason = payout.owedMinor < 0 ? `set off in payout ${payout.id}` : `payout ${payout.id}`
  const amountMinor = -payout.owedMinor
  addEntry(tx, referral, { payoutId: payout.id, kind: 'paid_out', amountMinor, reason, at: now })
}

/** Records that the amount of a payout for a referral is owed again (or no longer set off), because the payout failed. */
export function recordReturned(
  tx: Tx,
  referral: EntryOrigin,
  payout: { id: number; amountMinor: number },
  now: number
): void {
  const { id: payoutId, amountMinor } = payout
  const reason = `payout ${payoutId} failed`
  addEntry(tx, referral, { payoutId, kind: 'paid_out', amountMinor, reason, at: now })
}

/** Adds an amount to what an affiliate is owed, without a referral. A negative one corrects it. */
export function recordBonus(
  tx: Tx,
  affiliate: Pick<EntryOrigin, 'affiliateId' | 'currency'>,
  { amountMinor, reason }: { amountMinor: number; reason: string },
  now: number
): void {
  addEntry(tx, { ...affiliate, id: null }, { payoutId: null, kind: 'bonus', amountMinor, reason, at: now })
}

type NewEntry = Pick<CommissionEntryRow, 'payoutId' | 'kind' | 'amountMinor' | 'reason' | 'at'>

function addEntry(tx: Tx, { id, affiliateId, currency }: EntryOrigin, entry: NewEntry): void {
  tx.orm
    .insert(commissionEntries)
    .values({ referralId: id, affiliateId, currency, ...entry })
    .run()
}

function sumOf(rows: readonly { amountMinor: number }[]): number {
  return rows.reduce((total, { amountMinor }) => total + amountMinor, 0)
}

const { placeholder } = sql
const totalsByKind = statement((orm) =>
  orm
    .select({ kind: commissionTotals.kind, amountMinor: commissionTotals.amountMinor })
    .from(commissionTotals)
    .where(
      and(
        eq(commissionTotals.affiliateId, placeholder('affiliateId')),
        eq(commissionTotals.currency, placeholder('currency'))
      )
    )
    .prepare()
)
const pendingByDay = statement((orm) =>
  orm
    .select({ amountMinor: sum(referralTotals.amountMinor).mapWith(Number) })
    .from(referralTotals)
    .where(
      and(
        eq(referralTotals.affiliateId, placeholder('affiliateId')),
        eq(referralTotals.currency, placeholder('currency')),
        eq(referralTotals.status, 'pending')
      )
    )
    .prepare()
)

/** An affiliate's balance in the shop's currency, with that of erased accounts of the same mailbox. */
export function balanceOf(db: Db, affiliateId: number): Balance {
  const currency = setting(db, 'shop.currency')
  const ids = [affiliateId, ...erasedAccountsOf(db, affiliateId)]
  const totals = ids.flatMap((id) => totalsByKind(db).all({ affiliateId: id, currency }))
  const paidMinor = -sumOf(totals.filter(({ kind }) => kind === 'paid_out')) || 0
  const pendingMinor = ids.reduce(
    (sum, id) => sum + (pendingByDay(db).get({ affiliateId: id, currency })?.amountMinor ?? 0),
    0
  )
  return { currency, pendingMinor, unpaidMinor: sumOf(totals), paidMinor }
}

/** What an affiliate sees of the account. `link` leads to the front page; null while the account is not active. */
export type OwnAffiliate = { affiliate: AffiliateView; balance: Balance; link: string | null; coupons: string[] }

/**
 * A user's affiliate account, with any status, its balance, its link, and the codes of its coupons that are in use.
 *
 * @throws AppError AFFILIATE_NOT_FOUND without one, or while the module is off
 */
export function getOwnAffiliate(
  shop: Pick<ShopContext, 'db' | 'config' | 'publicUrl'>,
  userId: number,
  now: number
): OwnAffiliate {
  const { db } = shop
  const affiliate = requireAffiliate(db, findAffiliateOfUser(db, userId))
  return {
    affiliate: toAffiliate(db, affiliate, now),
    balance: balanceOf(db, affiliate.id),
    link: homeLink(shop, affiliate),
    coupons: couponsOfAffiliate(db, affiliate.id).flatMap(({ code, enabled }) => (enabled ? [code] : []))
  }
}

/** An affiliate's balance where something is pending, owed to them or owed by them; null without one. */
export function openBalanceOf(db: Db, userId: number): Balance | null {
  const affiliate = findAffiliateOfUser(db, userId)
  if (affiliate === undefined) return null
  const balance = balanceOf(db, affiliate.id)
  return balance.pendingMinor === 0 && balance.unpaidMinor === 0 ? null : balance
}
