import { percentOf } from '../../platform/money.ts'

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
