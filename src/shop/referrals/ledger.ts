import type { ReferralRow } from './rows.ts'
import { commissionEntries } from './schema.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { insertStatement, rawStatement, rowsStatement } from '../../platform/db/statements.ts'

const insertEntry = insertStatement(commissionEntries)
const creditOfReferral = rawStatement<[number], { creditMinor: number }>(
  `SELECT coalesce(sum(amount_minor), 0) AS creditMinor FROM commission_entries WHERE referral_id = ? AND kind <> 'paid_out'`
)

export type EntryOrigin = Pick<ReferralRow, 'id' | 'affiliateId' | 'currency'>

/** A referral's ledger entries, oldest first. */
export const entriesOf = rowsStatement(commissionEntries, 'referral_id = ? ORDER BY id')

/** Whether payouts cover everything that a referral has earned. */
export function isPaidOut(db: Db, referralId: number): boolean {
  const entries = entriesOf(db, referralId)
  const owedMinor = entries.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  return owedMinor <= 0 && entries.some(({ kind }) => kind === 'paid_out')
}

/**
 * Adjusts the commission that a referral has earned to `targetMinor` by one ledger entry: `earned` for an increase,
 * `taken_back` for a decrease, none when it is equal. Payouts do not change. If more was paid out than is earned, the
 * referral's entries have a negative sum, which reduces the affiliate's next payout.
 */
export function adjustEarned(tx: Tx, referral: EntryOrigin, targetMinor: number, reason: string, now: number): void {
  const change = targetMinor - (creditOfReferral(tx).get(referral.id)?.creditMinor ?? 0)
  if (change === 0) return
  const kind = change > 0 ? 'earned' : 'taken_back'
  insertEntry(tx, { ...origin(referral), payoutId: null, kind, amountMinor: change, reason, at: now })
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
  insertEntry(tx, { ...origin(referral), payoutId: payout.id, kind: 'paid_out', amountMinor, reason, at: now })
}

function origin({ id, affiliateId, currency }: EntryOrigin) {
  return { referralId: id, affiliateId, currency }
}
