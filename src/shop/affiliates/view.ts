import { toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AffiliateRow } from './find.ts'
import { setting } from '../settings/settings.ts'

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

/** The affiliate's current commission rate in basis points: their own rate, else the shop's. */
export function currentRateBps(db: Db, affiliate: Pick<AffiliateRow, 'rateBps'>): number {
  return affiliate.rateBps ?? Math.round(setting(db, 'affiliates.rate') * 100)
}
