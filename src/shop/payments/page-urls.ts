import type { ShopContext } from '../context.ts'
import type { OrderRow } from '../orders/rows.ts'

/** Where the gateway's page sends the buyer; both are GETs and prove nothing. */
export type PageUrls = { successUrl: string; cancelUrl: string }

/** The site's own addresses with the result in their query, or the order's page here if the site gave none. */
export function pageUrls(shop: Pick<ShopContext, 'publicUrl'>, order: OrderRow): PageUrls {
  const own = `${shop.publicUrl()}/checkout/done/${order.publicToken}`
  return {
    successUrl: order.returnUrl === null ? own : withResult(order.returnUrl, order.id, 'success'),
    cancelUrl: order.cancelUrl === null ? own : withResult(order.cancelUrl, order.id, 'cancelled')
  }
}

/**
 * The address that a buyer comes back to. Its query proves nothing, so the site asks /orders. The rest of the query stays
 * as the site wrote it; an `orderId` or `result` of an earlier try is replaced.
 */
export function withResult(url: string, orderId: number, result: 'success' | 'pending' | 'cancelled'): string {
  const target = new URL(url)
  const others = target.search.slice(1).split('&').filter(isOther)
  target.search = [...others, `orderId=${orderId}`, `result=${result}`].join('&')
  return target.href
}

function isOther(part: string): boolean {
  const [name] = new URLSearchParams(part).keys()
  return part !== '' && name !== 'orderId' && name !== 'result'
}
