import { and, count, eq, exists, inArray, isNotNull, isNull, ne, notExists, or, sql, sum } from 'drizzle-orm'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { ReferralRow, PayoutRow } from '../referrals/store.ts'
import { AppError, validationFailed } from '../../errors.ts'
import { compareKey } from '../../platform/text.ts'
import { emit } from '../webhooks/emit.ts'
import { getReferral, storeReferral, toEventData } from '../referrals/store.ts'
import { recordPaidOut, recordReturned } from '../referrals/ledger.ts'
import { commissionEntries, payoutFailures, payouts, referrals } from '../referrals/schema.ts'
import { paymentAttempts } from '../payments/schema.ts'
import { entriesOfPayout, findFailure, getPayout } from './find.ts'
import { whyHeld } from './held.ts'
import type { HeldReason } from './held.ts'
import type { PaidEntry } from './find.ts'
import { toIsoOrNull } from '../../platform/iso-time.ts'
import { toDecimalText, toMinor } from '../../platform/money.ts'
import { setting } from '../settings/settings.ts'
import { assertNoneLost } from './lost.ts'
import { getUserById } from '../accounts/find.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { erasedAccountsOf, successorsOfErased } from '../affiliates/former.ts'
import { toCsv } from '../../platform/csv.ts'

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
    const reason = line.status === 'unpaid' || line.owedMinor > 0 ? whyHeld(db, line, now) : null
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

function sumOf(lines: readonly PayoutLine[]): number {
  return lines.reduce((sum, line) => sum + line.owedMinor, 0)
}

type Signature = Pick<PayoutRun, 'reference' | 'by'>
export type PaidPayout = { payout: PayoutRow; plan: PayoutPlan }

export type PayoutRun = PayoutFilter & {
  /** The plan that the operator approved. */
  approved?: readonly PayoutPlan[]
  /** The operator's reference for the payouts, such as the number of a bank transfer. */
  reference?: string
  /** The operator's name on the server. */
  by: string
  /** Saves the payouts as CSV before they are committed; if it throws, nothing is paid. */
  saveCsv?: (csv: string) => void
  payees?: Payees
}

/**
 * Marks the planned payouts (`planPayouts`) as paid: a payout for each affiliate with an amount above zero, a `paid_out`
 * entry for each of its referrals, debts included, and the status `paid`. It moves no money: the operator does.
 *
 * @throws AppError CONFLICT when the amounts differ from the approved plan, and while a restore has lost payouts that are
 *   not taken over; then no payout is made
 */
export function payPayouts(db: Db, run: PayoutRun, now: number): PaidPayout[] {
  return write(db, (tx) => {
    assertNoneLost(tx)
    const plans = planPayouts(tx, now, run).filter(isPayable)
    if (run.approved !== undefined && summary(plans) !== summary(run.approved.filter(isPayable))) {
      throw new AppError('CONFLICT', 'The amounts have changed since they were shown. Check them again and retry.')
    }
    const paid = plans.map((plan) => ({ payout: pay(tx, plan, run, now), plan }))
    run.saveCsv?.(payoutsCsv(tx, paid, run.payees))
    return paid
  })
}

/** Whether a planned payout is made; debts, and less than the minimum, are carried to a later payout. */
export function isPayable(plan: PayoutPlan): boolean {
  return plan.amountMinor > 0 && !plan.belowMinimum
}

function summary(plans: readonly PayoutPlan[]): string {
  return JSON.stringify(plans.map((plan) => [plan.affiliateId, plan.currency, plan.amountMinor, plan.lines.length]))
}

function pay(tx: Tx, plan: PayoutPlan, { reference, by: paidBy }: Signature, now: number): PayoutRow {
  const { affiliateId, currency, amountMinor } = plan
  const payout = tx.orm
    .insert(payouts)
    .values({ affiliateId, currency, amountMinor, reference: reference ?? null, paidBy, createdAt: now })
    .returning()
    .get()
  for (const line of plan.lines) markPaid(tx, line, payout.id, now)
  emit(tx, 'payout.paid', toEventOf(payout), now)
  return payout
}

function markPaid(tx: Tx, line: PayoutLine, payoutId: number, now: number): void {
  if (line.owedMinor !== 0) recordPaidOut(tx, line, { id: payoutId, owedMinor: line.owedMinor }, now)
  if (line.status !== 'unpaid' || line.id === null) return
  const paid = storeReferral(tx, getReferral(tx, line.id), { status: 'paid' }, now)
  emit(tx, 'referral.paid', { ...toEventData(paid), payoutId }, now)
}

/**
 * Records that the money of a payout came back, for example from a closed bank account. Its commissions are due again, and
 * the debts that it set off are open again.
 *
 * @throws AppError NOT_FOUND; CONFLICT when the failure is recorded already
 */
export function failPayout(db: Db, id: number, { reason, by }: { reason: string; by: string }, now: number): PayoutRow {
  return write(db, (tx) => {
    const payout = getPayout(tx, id)
    const failure = findFailure(tx, id)
    if (failure !== undefined) throw new AppError('CONFLICT', `Payout ${id} failed already: ${failure.reason}`)
    tx.orm.insert(payoutFailures).values({ payoutId: id, reason, recordedBy: by, createdAt: now }).run()
    for (const entry of entriesOfPayout(tx, id)) owedAgain(tx, id, entry, now)
    emit(tx, 'payout.failed', { ...toEventOf(payout), reason }, now)
    return payout
  })
}

function owedAgain(tx: Tx, payoutId: number, entry: PaidEntry, now: number): void {
  const { referralId, affiliateId, currency, amountMinor } = entry
  const returned = { id: payoutId, amountMinor: -amountMinor }
  recordReturned(tx, { id: referralId, affiliateId, currency }, returned, now)
  if (referralId === null) return
  const referral = getReferral(tx, referralId)
  if (referral.status === 'paid' && amountMinor < 0) storeReferral(tx, referral, { status: 'unpaid' }, now)
}

function toEventOf({ id, affiliateId, amountMinor, currency }: PayoutRow) {
  return { payoutId: id, affiliateId, amountMinor, currency }
}

/** To whom a bank pays, by the affiliate's code. The shop stores none of it. */
export type Payees = ReadonlyMap<string, { holder: string; iban: string }>

/**
 * Payouts, paid or planned, as CSV for a bank or an accountant, one row each. Amounts are in major units.
 *
 * @param payees adds the holder and the IBAN of each account
 * @throws AppError VALIDATION_FAILED (`payees`) for an affiliate without a payee
 */
export function payoutsCsv(
  db: Db,
  payouts: readonly { plan: PayoutPlan; payout: PayoutRow | null }[],
  payees?: Payees
): string {
  const bank = payees === undefined ? [] : ['holder', 'iban']
  const columns = [
    'payout',
    'affiliate',
    'name',
    'email',
    'amount',
    'currency',
    'referrals',
    'reference',
    'created_at',
    ...bank
  ]
  const rows = payouts.map(({ payout, plan }) => {
    const { code, userId } = getAffiliateById(db, plan.affiliateId)
    const { displayName, email } = getUserById(db, userId)
    const amount = toDecimalText(plan.amountMinor, plan.currency)
    const referrals = plan.lines.filter((line) => line.status === 'unpaid').length
    const payment = [payout?.reference ?? null, toIsoOrNull(payout?.createdAt)]
    const payee = payees?.get(compareKey(code))
    if (payees !== undefined && payee === undefined)
      throw validationFailed({ payees: [`Has no line for the affiliate ${code}.`] })
    const account = payee === undefined ? [] : [payee.holder, payee.iban]
    return [payout?.id ?? null, code, displayName, email, amount, plan.currency, referrals, ...payment, ...account]
  })
  return toCsv(columns, rows)
}
