import { toIso } from '../../platform/iso-time.ts'
import type { ReferralRow } from './rows.ts'

/** docs/interface.md 2.9; `amountMinor` is net of refunds. */
export type ReferralView = {
  id: number
  amountMinor: number
  currency: string
  status: ReferralRow['status']
  createdAtUtc: string
}

export function toReferral(
  row: Pick<ReferralRow, 'id' | 'amountMinor' | 'currency' | 'status' | 'createdAt'>
): ReferralView {
  const { id, amountMinor, currency, status, createdAt } = row
  return { id, amountMinor, currency, status, createdAtUtc: toIso(createdAt) }
}
