import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { mailAffiliate } from '../affiliates/notify.ts'
import { recordReturned } from '../referrals/ledger.ts'
import { payoutFailures } from '../referrals/schema.ts'
import { getReferral, storeReferral } from '../referrals/store.ts'
import type { PayoutRow } from '../referrals/store.ts'
import { emit } from '../webhooks/emit.ts'
import { entriesOfPayout, findFailure, getPayout, toPayoutEvent } from './find.ts'
import type { FailureRow, PaidEntry } from './find.ts'

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
    recordFailure(tx, payout, { reason, recordedBy: by, createdAt: now }, now)
    const eventId = emit(tx, 'payout.failed', { ...toPayoutEvent(payout), reason }, now)
    const data = { affiliateId: payout.affiliateId, payoutId: id, step: 'failed' } as const
    mailAffiliate(tx, { template: 'affiliate_payout', data, eventId }, now)
    return payout
  })
}

/** Stores a failure, and makes what the payout paid due again. */
export function recordFailure(
  tx: Tx,
  { id }: PayoutRow,
  failure: Pick<FailureRow, 'reason' | 'recordedBy' | 'createdAt'>,
  now: number
): void {
  const { reason, recordedBy, createdAt } = failure
  tx.orm.insert(payoutFailures).values({ payoutId: id, reason, recordedBy, createdAt }).run()
  for (const entry of entriesOfPayout(tx, id)) owedAgain(tx, id, entry, now)
}

function owedAgain(tx: Tx, payoutId: number, entry: PaidEntry, now: number): void {
  const { referralId, affiliateId, currency, amountMinor } = entry
  const returned = { id: payoutId, amountMinor: -amountMinor }
  recordReturned(tx, { id: referralId, affiliateId, currency }, returned, now)
  if (referralId === null) return
  const referral = getReferral(tx, referralId)
  if (referral.status === 'paid' && amountMinor < 0) storeReferral(tx, referral, { status: 'unpaid' }, now)
}
