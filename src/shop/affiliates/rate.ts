import type { Db } from '../../platform/db/database.ts'
import { setting } from '../settings/settings.ts'
import type { AffiliateRow } from './rows.ts'

/** The affiliate's current commission rate in basis points: their own rate, else the shop's. */
export function currentRateBps(db: Db, affiliate: Pick<AffiliateRow, 'rateBps'>): number {
  return affiliate.rateBps ?? Math.round(setting(db, 'affiliates.rate') * 100)
}
