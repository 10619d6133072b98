import { toCsv, toCsvRows } from '../../platform/csv.ts'
import type { CsvCell } from '../../platform/csv.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { toDecimalText } from '../../platform/money.ts'
import type { ExportedReferral, ReferralFilter } from './admin-view.ts'
import { allReferrals } from './admin-view.ts'

const columns: Record<string, (row: ExportedReferral) => CsvCell> = {
  referral: ({ referral }) => referral.id,
  affiliate: ({ affiliateCode }) => affiliateCode,
  order: ({ referral }) => referral.orderId,
  visit: ({ referral }) => referral.visitId,
  campaign: ({ campaign }) => campaign,
  status: ({ referral }) => referral.status,
  amount: ({ referral }) => toDecimalText(referral.amountMinor, referral.currency),
  currency: ({ referral }) => referral.currency,
  rate_percent: ({ referral }) => referral.rateBps / 100,
  rejected_for: ({ referral }) => referral.rejectedFor,
  created_at: ({ referral }) => toIso(referral.createdAt),
  accepted_at: ({ referral }) => toIsoOrNull(referral.acceptedAt)
}

/**
 * Referrals as CSV, one row each, oldest first. Amounts are in major units.
 *
 * @param onRows learns how many rows a part has
 * @returns the head, and parts of some hundred rows, which are read while they are used
 */
export function* referralsCsv(
  db: Db,
  filter: ReferralFilter,
  onRows: (count: number) => void = () => undefined
): Generator<string, void> {
  yield toCsv(Object.keys(columns), [])
  yield* allReferrals(db, filter, (rows) => {
    onRows(rows.length)
    return rows.length === 0 ? [] : [toCsvRows(rows.map((row) => Object.values(columns).map((cell) => cell(row))))]
  })
}
