import { currentRateBps } from './rate.ts'
import { toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AffiliateRow } from './rows.ts'

/** An affiliate account as its owner sees it (docs/contract.md A5). `rate` is the current rate in percent. */
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
