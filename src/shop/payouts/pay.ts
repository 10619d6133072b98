import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { mailAffiliate } from '../affiliates/notify.ts'
import { recordPaidOut } from '../referrals/ledger.ts'
import { payouts } from '../referrals/schema.ts'
import { getReferral, storeReferral, toEventData } from '../referrals/store.ts'
import type { PayoutRow } from '../referrals/store.ts'
import { emit } from '../webhooks/emit.ts'
import { toPayoutEvent } from './find.ts'
import { assertNoneLost } from './lost.ts'
import { payoutsCsv } from './payouts-csv.ts'
import type { Payees } from './payouts-csv.ts'
import { partiesOf } from './statement.ts'
import { isPayable, planPayouts } from './plan.ts'
import type { PayoutFilter, PayoutLine, PayoutPlan } from './plan.ts'

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

function summary(plans: readonly PayoutPlan[]): string {
  return JSON.stringify(plans.map((plan) => [plan.affiliateId, plan.currency, plan.amountMinor, plan.lines.length]))
}

function pay(tx: Tx, plan: PayoutPlan, { reference, by: paidBy }: Signature, now: number): PayoutRow {
  const { affiliateId, currency, amountMinor } = plan
  const payout = tx.orm
    .insert(payouts)
    .values({
      affiliateId,
      currency,
      amountMinor,
      reference: reference ?? null,
      paidBy,
      createdAt: now,
      ...partiesOf(tx, affiliateId)
    })
    .returning()
    .get()
  for (const line of plan.lines) markPaid(tx, line, payout.id, now)
  const eventId = emit(tx, 'payout.paid', toPayoutEvent(payout), now)
  const data = { affiliateId, payoutId: payout.id, step: 'paid' } as const
  mailAffiliate(tx, { template: 'affiliate_payout', data, eventId }, now)
  return payout
}

function markPaid(tx: Tx, line: PayoutLine, payoutId: number, now: number): void {
  if (line.owedMinor !== 0) recordPaidOut(tx, line, { id: payoutId, owedMinor: line.owedMinor }, now)
  if (line.status !== 'unpaid' || line.id === null) return
  const paid = storeReferral(tx, getReferral(tx, line.id), { status: 'paid' }, now)
  emit(tx, 'referral.paid', { ...toEventData(paid), payoutId }, now)
}
