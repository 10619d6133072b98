import type { ShopContext } from '../context.ts'
import type { OrderRow } from './rows.ts'

/**
 * The address of an order's own page, for the buyer. The token in it is all that is needed to read and cancel the order.
 * It is stored and not derived, because links in emails must outlive a change of the shop's secret, and because a backup
 * contains the secret anyway.
 */
export function statusUrl(
  shop: Pick<ShopContext, 'publicUrl'>,
  { publicToken }: Pick<OrderRow, 'publicToken'>
): string {
  return `${shop.publicUrl()}/checkout/done/${publicToken}`
}
