import type { Db } from '../../platform/db/database.ts'
import { percentOf } from '../../platform/money.ts'
import { setting } from '../settings/settings.ts'
import type { AffiliateRow } from './rows.ts'

/** What an affiliate earns now, in hundredths of a percent: his own rate, else the shop's. */
export function currentRateBps(db: Db, affiliate: Pick<AffiliateRow, 'rateBps'>): number {
  return affiliate.rateBps ?? Math.round(setting(db, 'affiliates.rate') * 100)
}

/**
 * The commission that is left of an order, in its minor units: the rate of the whole total, half up, less the share of
 * it that has been refunded, half up as well. The share is taken of all refunds together, so that several small ones
 * take back exactly what one of their sum would, and the last of them takes what is left.
 */
export function netCommissionMinor(order: { totalMinor: number; refundedMinor: number }, rateBps: number): number {
  const wholeMinor = percentOf(order.totalMinor, rateBps)
  if (order.totalMinor === 0) return wholeMinor
  const total = BigInt(order.totalMinor)
  const doubledShare = 2n * BigInt(wholeMinor) * BigInt(order.refundedMinor)
  return wholeMinor - Number((doubledShare + total) / (2n * total))
}
