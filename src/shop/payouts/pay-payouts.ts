import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { emit } from '../webhooks/emit.ts'
import { getReferral } from '../referrals/find.ts'
import { recordPaidOut } from '../referrals/ledger.ts'
import type { PayoutRow } from '../referrals/rows.ts'
import { payouts } from '../referrals/schema.ts'
import { storeReferral, toEventData } from '../referrals/store-referral.ts'
import { payoutsCsv } from './payouts-csv.ts'
import { planPayouts } from './plan-payouts.ts'
import type { PayoutFilter, PayoutLine, PayoutPlan } from './plan-payouts.ts'

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
