import { and, eq, isNotNull, ne, or, sql, sum } from 'drizzle-orm'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { isOrderPaid } from '../orders/transition.ts'
import type { ReferralRow, PayoutRow } from '../referrals/store.ts'
import { setting } from '../settings/settings.ts'
import { AppError } from '../../errors.ts'
import { emit } from '../webhooks/emit.ts'
import { getReferral, storeReferral, toEventData } from '../referrals/store.ts'
import { recordPaidOut } from '../referrals/ledger.ts'
import { commissionEntries, payouts, referrals } from '../referrals/schema.ts'
import { toIsoOrNull } from '../../platform/iso-time.ts'
import { toDecimalText } from '../../platform/money.ts'
import { getUserById } from '../accounts/find.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { toCsv } from '../../platform/csv.ts'

/** The amount owed for one referral. Negative for a debt: the order was refunded after the payout. */
export type PayoutLine = Pick<ReferralRow, 'id' | 'affiliateId' | 'orderId' | 'currency' | 'status' | 'acceptedAt'> & {
  owedMinor: number
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
  /** Earned, but not due yet, or held because the order is no longer paid. */
  heldMinor: number
  /** earnedMinor + setOffMinor. If it is zero or negative there is no payout, and debts are carried to a later one. */
  amountMinor: number
}

export type PayoutFilter = { affiliateId?: number }

const dayMs = 86_400_000

/** The referrals that are due some day, and those with an open amount. */
function openLines(db: Db, { affiliateId }: PayoutFilter): PayoutLine[] {
  const owed = sum(commissionEntries.amountMinor)
  const open = db.orm
    .select({ referralId: commissionEntries.referralId, owedMinor: owed.as('owed_minor') })
    .from(commissionEntries)
    .groupBy(commissionEntries.referralId)
    .having(ne(owed, sql`0`))
    .as('open')
  const { id, orderId, currency, status, acceptedAt } = referrals
  const owedMinor = sql`coalesce(${open.owedMinor}, 0)`.mapWith(Number)
  return db.orm
    .select({ id, affiliateId: referrals.affiliateId, orderId, currency, status, acceptedAt, owedMinor })
    .from(referrals)
    .leftJoin(open, eq(open.referralId, id))
    .where(
      and(
        or(eq(status, 'unpaid'), isNotNull(open.owedMinor)),
        affiliateId === undefined ? undefined : eq(referrals.affiliateId, affiliateId)
      )
    )
    .orderBy(referrals.affiliateId, id)
    .all()
}

/**
 * Plans the payouts, one for each affiliate and currency; writes nothing. A referral is due `affiliates.payoutHoldDays`
 * after its acceptance, so that most refunds happen before the payout, and while its order is paid and not in dispute.
 */
export function planPayouts(db: Db, now: number, filter: PayoutFilter = {}): PayoutPlan[] {
  const dueBefore = now - setting(db, 'affiliates.payoutHoldDays') * dayMs
  const isHeld = (line: PayoutLine): boolean =>
    line.status === 'unpaid' && ((line.acceptedAt ?? now) > dueBefore || !isOrderPaid(db, line.orderId))
  const groups = Map.groupBy(openLines(db, filter), (line) => `${line.affiliateId} ${line.currency}`)
  return [...groups.values()].flatMap((group) => planGroup(group, isHeld))
}

function planGroup(group: readonly PayoutLine[], isHeld: (line: PayoutLine) => boolean): PayoutPlan[] {
  const [first] = group
  if (first === undefined) return []
  const { held = [], due = [] } = Object.groupBy(group, (line) => (isHeld(line) ? 'held' : 'due'))
  const earnedMinor = sumOf(due.filter((line) => line.owedMinor > 0))
  const setOffMinor = sumOf(due.filter((line) => line.owedMinor < 0))
  const { affiliateId, currency } = first
  const amountMinor = earnedMinor + setOffMinor
  return [{ affiliateId, currency, lines: due, earnedMinor, setOffMinor, heldMinor: sumOf(held), amountMinor }]
}

function sumOf(lines: readonly PayoutLine[]): number {
  return lines.reduce((sum, line) => sum + line.owedMinor, 0)
}

export type PaidPayout = { payout: PayoutRow; plan: PayoutPlan }

export type PayoutRun = PayoutFilter & {
  /** The plan that the operator approved. */
  approved?: readonly PayoutPlan[]
  /** The operator's reference for the payouts, such as the number of a bank transfer. */
  reference?: string
  /** Saves the payouts as CSV before they are committed; if it throws, nothing is paid. */
  saveCsv?: (csv: string) => void
}

/**
 * Marks the planned payouts (`planPayouts`) as paid: a payout for each affiliate with an amount above zero, a `paid_out`
 * entry for each of its referrals, debts included, and the status `paid`. It moves no money: the operator does.
 *
 * @throws AppError CONFLICT when the amounts differ from the approved plan; then no payout is made
 */
export function payPayouts(db: Db, run: PayoutRun, now: number): PaidPayout[] {
  return write(db, (tx) => {
    const plans = planPayouts(tx, now, run).filter(isPayable)
    if (run.approved !== undefined && summary(plans) !== summary(run.approved.filter(isPayable))) {
      throw new AppError('CONFLICT', 'The amounts have changed since they were shown. Check them again and retry.')
    }
    const paid = plans.map((plan) => ({ payout: pay(tx, plan, run.reference ?? null, now), plan }))
    run.saveCsv?.(payoutsCsv(tx, paid))
    return paid
  })
}

/** Whether a planned payout has an amount to pay; debts are carried to a later payout. */
export function isPayable(plan: PayoutPlan): boolean {
  return plan.amountMinor > 0
}

function summary(plans: readonly PayoutPlan[]): string {
  return JSON.stringify(plans.map((plan) => [plan.affiliateId, plan.currency, plan.amountMinor, plan.lines.length]))
}

function pay(tx: Tx, plan: PayoutPlan, reference: string | null, now: number): PayoutRow {
  const { affiliateId, currency, amountMinor } = plan
  const payout = tx.orm
    .insert(payouts)
    .values({ affiliateId, currency, amountMinor, reference, createdAt: now })
    .returning()
    .get()
  for (const line of plan.lines) markPaid(tx, line, payout.id, now)
  return payout
}

function markPaid(tx: Tx, line: PayoutLine, payoutId: number, now: number): void {
  if (line.owedMinor !== 0) recordPaidOut(tx, line, { id: payoutId, owedMinor: line.owedMinor }, now)
  if (line.status !== 'unpaid') return
  const paid = storeReferral(tx, getReferral(tx, line.id), { status: 'paid' }, now)
  emit(tx, 'referral.paid', { ...toEventData(paid), payoutId }, now)
}

/** Payouts, paid or planned, as CSV for a bank or an accountant, one row each. Amounts are in major units. */
export function payoutsCsv(db: Db, payouts: readonly { plan: PayoutPlan; payout: PayoutRow | null }[]): string {
  const columns = ['payout', 'affiliate', 'name', 'email', 'amount', 'currency', 'referrals', 'reference', 'created_at']
  const rows = payouts.map(({ payout, plan }) => {
    const { code, userId } = getAffiliateById(db, plan.affiliateId)
    const { displayName, email } = getUserById(db, userId)
    const amount = toDecimalText(plan.amountMinor, plan.currency)
    const referrals = plan.lines.filter((line) => line.status === 'unpaid').length
    const payment = [payout?.reference ?? null, toIsoOrNull(payout?.createdAt)]
    return [payout?.id ?? null, code, displayName, email, amount, plan.currency, referrals, ...payment]
  })
  return toCsv(columns, rows)
}
