import type { PayoutRow } from './rows.ts'
import { payouts } from './schema.ts'
import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { emit } from '../outbox/emit.ts'
import { getReferral } from './find.ts'
import { recordPaidOut } from './ledger.ts'
import { planPayouts } from './payouts.ts'
import type { PayoutFilter, PayoutLine, PayoutPlan } from './payouts.ts'
import { toEventData, storeReferral } from './store.ts'

export type PaidPayout = { payout: PayoutRow; plan: PayoutPlan }

/**
 * Marks the planned payouts (`planPayouts`) as paid: a payout for each affiliate with an amount above zero, a `paid_out`
 * entry for each of its referrals, debts included, and the status `paid`. It moves no money: the operator does.
 *
 * @param run.approved the plan that the operator approved
 * @param run.reference the operator's own, for example a bank reference
 * @throws AppError CONFLICT when the amounts differ from the approved plan; then no payout is made
 */
export function payPayouts(
  tx: Tx,
  run: PayoutFilter & { approved?: readonly PayoutPlan[]; reference?: string },
  now: number
): PaidPayout[] {
  const plans = planPayouts(tx, now, run).filter(isPayable)
  if (run.approved !== undefined && summary(plans) !== summary(run.approved.filter(isPayable))) {
    throw new AppError('CONFLICT', 'The amounts have changed since they were shown. Check them again and retry.')
  }
  return plans.map((plan) => ({ payout: pay(tx, plan, run.reference ?? null, now), plan }))
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
