import { toIso, toIsoOrNull } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/database.ts'
import { currentRateBps } from './commission.ts'
import type { AffiliateRow, ReferralRow } from './rows.ts'

/** interface.md 2.9; `amountMinor` is net of refunds. */
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

/** An affiliate account as its owner sees it (CONTRACT A5); `rate` in percent, his own or else the shop's. */
export function toAffiliate(db: Db, affiliate: AffiliateRow) {
  return {
    id: affiliate.id,
    code: affiliate.code,
    status: affiliate.status,
    rate: currentRateBps(db, affiliate) / 100,
    termsVersion: affiliate.termsVersion,
    termsAcceptedAt: toIsoOrNull(affiliate.termsAcceptedAt)
  }
}
export type AffiliateView = ReturnType<typeof toAffiliate>
