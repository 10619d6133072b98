import { renewalInterval } from '../benefits/kinds.ts'
import { isShipped } from '../catalog/product-types.ts'
import type { OrderItemRow, OrderRow } from './find.ts'

type Interval = 'month' | 'year'

/**
 * What the subscriptions of an order cost in each further period, at list prices, because a coupon applies to the first
 * payment only, with their shipping. Tax that prices do not include is not part of it. Null without a subscription.
 */
export function renewalOf(
  items: readonly OrderItemRow[],
  { shippingMinor }: Pick<OrderRow, 'shippingMinor'>
): { amountMinor: number; interval: Interval } | null {
  const renewing = items.filter(({ grants }) => grants.some((grant) => renewalInterval(grant) !== null))
  const interval = renewing.flatMap(({ grants }) => grants.map(renewalInterval)).find((each) => each !== null)
  if (interval === undefined || interval === null) return null
  const goodsMinor = renewing.reduce((sum, { unitPriceMinor, quantity }) => sum + unitPriceMinor * quantity, 0)
  return { amountMinor: goodsMinor + (renewing.some(({ type }) => isShipped(type)) ? shippingMinor : 0), interval }
}

/** The time (epoch ms) one period later. A day that the month does not have is its last day, as at the gateway. */
export function afterInterval(at: number, interval: Interval): number {
  const date = new Date(at)
  const months = interval === 'month' ? 1 : 12
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months + 1, 0)).getUTCDate()
  const day = Math.min(date.getUTCDate(), last)
  return new Date(at).setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth() + months, day)
}
