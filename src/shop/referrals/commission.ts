import { percentOf } from '../../platform/money.ts'

/** What a commission is computed from, in minor units. */
export type CommissionBase = {
  /** The goods after discounts, without shipping and tax. */
  baseMinor: number
  /** What the buyer paid for the goods, with tax. */
  goodsMinor: number
  /** What the refunds so far have given back of it. */
  refundedGoodsMinor: number
}

/**
 * The commission on an order after refunds, in minor units: the rate applied to the goods, less the share of the goods
 * that was refunded; refunded shipping takes nothing back. Both are rounded half up. The share is computed from the sum of all refunds, so that several refunds
 * reduce the commission exactly as one refund of their sum, and a full refund reduces it to zero.
 */
export function netCommissionMinor(order: CommissionBase, rateBps: number): number {
  const wholeMinor = percentOf(order.baseMinor, rateBps)
  if (order.goodsMinor === 0) return wholeMinor
  const total = BigInt(order.goodsMinor)
  const doubledShare = 2n * BigInt(wholeMinor) * BigInt(Math.min(order.refundedGoodsMinor, order.goodsMinor))
  return wholeMinor - Number((doubledShare + total) / (2n * total))
}
