import { and, count, eq, exists, inArray, isNotNull, isNull, ne, notExists, or, sql, sum } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { toMinor } from '../../platform/money.ts'
import { erasedAccountsOf, successorsOfErased } from '../affiliates/former.ts'
import { paymentAttempts } from '../payments/schema.ts'
import { commissionEntries, referrals } from '../referrals/schema.ts'
import type { ReferralRow } from '../referrals/store.ts'
import { setting } from '../settings/settings.ts'
import { whyHeld } from './held.ts'
import type { HeldReason } from './held.ts'

/**
 * The amount owed for one referral. Negative for a debt: the order was refunded after the payout. A line without a
 * referral (`id` null) has the bonuses of an affiliate, and what earlier payouts paid without one.
 */
export type PayoutLine = Pick<ReferralRow, 'affiliateId' | 'currency'> & {
  id: number | null
  orderId: number | null
  status: ReferralRow['status'] | null
  acceptedAt: number | null
  owedMinor: number
  /** The affiliate, or the new account of an erased affiliate's mailbox. */
  payeeId: number
}

export type HeldCommission = {
  referralId: number | null
  orderId: number | null
  amountMinor: number
  reason: HeldReason
}

/** What a payout now pays to one affiliate. All amounts are in minor units of `currency`. */
export type PayoutPlan = {
  affiliateId: number
  currency: string
  /** The referrals that the payout includes: those that are due, and debts. */
  lines: PayoutLine[]
  earnedMinor: number
  /** The sum of the debts, zero or negative. */
  setOffMinor: number
  /** Earned, and not due yet. */
  held: HeldCommission[]
  /** The sum of `held`. */
  heldMinor: number
  /** Whether the amount is below `affiliates.minPayout`, so that it waits. */
  belowMinimum: boolean
  /** earnedMinor + setOffMinor. If it is zero or negative there is no payout, and debts are carried to a later one. */
  amountMinor: number
}

export type PayoutFilter = {
  affiliateId?: number
  /** Whether the shop charges real cards; undefined without card payments. Commissions of the other mode are not paid. */
  livemode?: boolean | undefined
}

/** The referrals that are due some day, and those with an open amount. */
function openLines(db: Db, { affiliateId, livemode }: PayoutFilter): PayoutLine[] {
  const owed = sum(commissionEntries.amountMinor)
  const open = db.orm
    .select({ referralId: commissionEntries.referralId, owedMinor: owed.as('owed_minor') })
    .from(commissionEntries)
    .groupBy(commissionEntries.referralId)
    .having(ne(owed, sql`0`))
    .as('open')
  const { id, orderId, currency, status, acceptedAt } = referrals
  const owedMinor = sql`coalesce(${open.owedMinor}, 0)`.mapWith(Number)
  const lines = db.orm
    .select({ id, affiliateId: referrals.affiliateId, orderId, currency, status, acceptedAt, owedMinor })
    .from(referrals)
    .leftJoin(open, eq(open.referralId, id))
    .where(
      and(
        or(eq(status, 'unpaid'), isNotNull(open.owedMinor)),
        affiliateId === undefined
          ? undefined
          : inArray(referrals.affiliateId, [affiliateId, ...erasedAccountsOf(db, affiliateId)]),
        livemode === undefined ? undefined : notExists(paidInMode(db, !livemode))
      )
    )
    .orderBy(referrals.affiliateId, id)
    .all()
  const successors = successorsOfErased(db)
  const payable = [...lines, ...linesWithoutReferral(db, affiliateId)].map((line) => ({
    ...line,
    payeeId: successors.get(line.affiliateId) ?? line.affiliateId
  }))
  return payable.toSorted((a, b) => a.payeeId - b.payeeId)
}

function linesWithoutReferral(db: Db, affiliateId: number | undefined): Omit<PayoutLine, 'payeeId'>[] {
  const { affiliateId: of, currency, amountMinor, referralId } = commissionEntries
  const owedMinor = sum(amountMinor)
  const whose = affiliateId === undefined ? undefined : inArray(of, [affiliateId, ...erasedAccountsOf(db, affiliateId)])
  return db.orm
    .select({ affiliateId: of, currency, owedMinor: owedMinor.mapWith(Number) })
    .from(commissionEntries)
    .where(and(isNull(referralId), whose))
    .groupBy(of, currency)
    .having(ne(owedMinor, sql`0`))
    .orderBy(of, currency)
    .all()
    .map((row) => ({ ...row, id: null, orderId: null, status: null, acceptedAt: null }))
}

/** The card payments of a referral's order in live or test mode. */
function paidInMode(db: Db, livemode: boolean) {
  const isPaidByCard = and(
    eq(paymentAttempts.orderId, referrals.orderId),
    eq(paymentAttempts.outcome, 'paid'),
    isNotNull(paymentAttempts.objectId),
    eq(paymentAttempts.livemode, livemode)
  )
  return db.orm.select({ id: paymentAttempts.id }).from(paymentAttempts).where(isPaidByCard)
}

/** How many commissions are owed for card payments of the mode in which the shop is not: no payout includes them. */
export function countOfOtherMode(db: Db, livemode: boolean | undefined): number {
  if (livemode === undefined) return 0
  const ofOtherMode = and(eq(referrals.status, 'unpaid'), exists(paidInMode(db, !livemode)))
  return db.orm.select({ total: count() }).from(referrals).where(ofOtherMode).get()?.total ?? 0
}

/**
 * Plans the payouts, one for each affiliate and currency; writes nothing. A referral is due `affiliates.payoutHoldDays`
 * after its acceptance, so that most refunds happen before the payout, and while its order is paid and not in dispute.
 */
export function planPayouts(db: Db, now: number, filter: PayoutFilter = {}): PayoutPlan[] {
  const groups = Map.groupBy(openLines(db, filter), (line) => `${line.payeeId} ${line.currency}`)
  return [...groups.values()].flatMap((group) => planGroup(db, group, now))
}

function planGroup(db: Db, group: readonly PayoutLine[], now: number): PayoutPlan[] {
  const [first] = group
  if (first === undefined) return []
  const due: PayoutLine[] = []
  const held: HeldCommission[] = []
  for (const line of group) {
    const reason = isEarning(line) ? whyHeld(db, line, now) : null
    if (reason === null) due.push(line)
    else held.push({ referralId: line.id, orderId: line.orderId, amountMinor: line.owedMinor, reason })
  }
  const earnedMinor = sumOf(due.filter((line) => line.owedMinor > 0))
  const setOffMinor = sumOf(due.filter((line) => line.owedMinor < 0))
  const { payeeId: affiliateId, currency } = first
  const amountMinor = earnedMinor + setOffMinor
  const heldMinor = held.reduce((sum, line) => sum + line.amountMinor, 0)
  const belowMinimum = amountMinor > 0 && amountMinor < toMinor(String(setting(db, 'affiliates.minPayout')), currency)
  return [{ affiliateId, currency, lines: due, earnedMinor, setOffMinor, held, heldMinor, belowMinimum, amountMinor }]
}

/** Debts are never held, also one of a referral that was accepted again. */
function isEarning({ status, owedMinor }: PayoutLine): boolean {
  return owedMinor > 0 || (owedMinor === 0 && status === 'unpaid')
}

function sumOf(lines: readonly PayoutLine[]): number {
  return lines.reduce((sum, line) => sum + line.owedMinor, 0)
}

/** Whether a planned payout is made; debts, and less than the minimum, are carried to a later payout. */
export function isPayable(plan: PayoutPlan): boolean {
  return plan.amountMinor > 0 && !plan.belowMinimum
}
