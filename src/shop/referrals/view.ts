import { toIso } from '../../platform/iso-time.ts'
import type { ReferralRow } from './rows.ts'

/** A referral as its affiliate sees it (docs/interface.md 2.9). `amountMinor` is the commission after refunds. */
export type ReferralView = {
  id: number
  amountMinor: number
  currency: string
  status: ReferralRow['status']
  createdAtUtc: string
}

/** A referral for its affiliate; see `ReferralView`. */
export function toReferral(
  row: Pick<ReferralRow, 'id' | 'amountMinor' | 'currency' | 'status' | 'createdAt'>
): ReferralView {
  const { id, amountMinor, currency, status, createdAt } = row
  return { id, amountMinor, currency, status, createdAtUtc: toIso(createdAt) }
}
