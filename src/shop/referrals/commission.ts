import { percentOf } from '../../platform/money.ts'

/**
 * The commission on an order after refunds, in minor units: the rate applied to the total, less the refunded share of
 * it. Both are rounded half up. The share is computed from the sum of all refunds, so that several refunds reduce the
 * commission exactly as one refund of their sum, and a full refund reduces it to zero.
 */
export function netCommissionMinor(order: { totalMinor: number; refundedMinor: number }, rateBps: number): number {
  const wholeMinor = percentOf(order.totalMinor, rateBps)
  if (order.totalMinor === 0) return wholeMinor
  const total = BigInt(order.totalMinor)
  const doubledShare = 2n * BigInt(wholeMinor) * BigInt(order.refundedMinor)
  return wholeMinor - Number((doubledShare + total) / (2n * total))
}
