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
 * Marks as paid what the dry run shows, in the caller's one transaction: a payout for each affiliate whose sum is above
 * zero, `paid_out` in the ledger for each referral it settles, debts included, and their status. Money is moved by the
 * operator, not by Shopstead.
 *
 * @param run.approved the plan that the operator saw; `reference` is his own, such as a bank's number
 * @throws AppError CONFLICT when the sums are not (any more) those that were approved; nothing has been paid then
 */
export function payPayouts(
  tx: Tx,
  run: PayoutFilter & { approved?: readonly PayoutPlan[]; reference?: string },
  now: number
): PaidPayout[] {
  const plans = planPayouts(tx, now, run).filter(isPayable)
  if (run.approved !== undefined && summary(plans) !== summary(run.approved.filter(isPayable))) {
    throw new AppError('CONFLICT', 'The sums have changed since they were shown: look at them again.')
  }
  return plans.map((plan) => ({ payout: pay(tx, plan, run.reference ?? null, now), plan }))
}

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
  for (const line of plan.lines) settle(tx, line, payout.id, now)
  return payout
}

function settle(tx: Tx, line: PayoutLine, payoutId: number, now: number): void {
  if (line.owedMinor !== 0) recordPaidOut(tx, line, { id: payoutId, owedMinor: line.owedMinor }, now)
  if (line.status !== 'unpaid') return
  const paid = storeReferral(tx, getReferral(tx, line.id), { status: 'paid' }, now)
  emit(tx, 'referral.paid', { ...toEventData(paid), payoutId }, now)
}
