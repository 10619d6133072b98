import type { ShownPage, Visit } from './site.ts'

// Pages that are the same for every visitor. Their scripts fetch what belongs to the visitor through the first-party proxy.

export function cart({ site }: Visit): ShownPage {
  return { template: 'cart', title: site.t('yourCart'), data: { ...site.cart(), plain: '/cart/plain' } }
}

export function thanks({ site, query }: Visit): ShownPage {
  return { template: 'thanks', title: site.t('yourOrder'), data: { orderPage: orderPageOf(query) } }
}

/** The page of the order that a buyer comes back with, which needs no script; null without an order. */
function orderPageOf(query: URLSearchParams): string | null {
  const token = query.get('orderToken') ?? ''
  return /^[\w-]{1,100}$/.test(token) ? `/checkout/done/${token}` : null
}
