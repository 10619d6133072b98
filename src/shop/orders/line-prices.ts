import { shareMinor } from '../../platform/money.ts'
import type { OrderItemRow } from './rows.ts'

/** What a line costs when its order comes to another total. */
export type LinePrice = Pick<OrderItemRow, 'unitPriceMinor' | 'discountMinor' | 'totalMinor'>

/**
 * Distributes a total over lines by what they cost, to the minor unit. Where more is charged than a line's price, the
 * price follows; where less is charged, the difference is a discount.
 */
export function pricesFor(
  lines: readonly Pick<OrderItemRow, 'unitPriceMinor' | 'quantity'>[],
  totalMinor: number
): LinePrice[] {
  const weights = lines.map(({ unitPriceMinor, quantity }) => Math.max(1, unitPriceMinor * quantity))
  const shares = shareMinor(totalMinor, weights)
  return lines.map(({ unitPriceMinor, quantity }, index) => {
    const share = shares[index] ?? 0
    const price = Math.max(unitPriceMinor, Math.ceil(share / quantity))
    return { unitPriceMinor: price, discountMinor: price * quantity - share, totalMinor: share }
  })
}
