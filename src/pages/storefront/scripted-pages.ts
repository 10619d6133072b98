import type { ShownPage, Visit } from './site.ts'

// Pages that are the same for every visitor. Their scripts fetch what belongs to the visitor through the first-party proxy.

export function cart({ site }: Visit): ShownPage {
  return { template: 'cart', title: site.t('yourCart'), data: { ...site.cart(), plain: '/cart/plain' } }
}

export function thanks({ site, query }: Visit): ShownPage {
  return { template: 'thanks', title: site.t('yourOrder'), data: { orderPage: orderPageOf(query) } }
}

export function login({ site }: Visit): ShownPage {
  return { template: 'login', title: site.t('link.logIn') }
}

export function registration({ site }: Visit): ShownPage {
  return { template: 'register', title: site.t('link.register') }
}

export function forgotPassword({ site }: Visit): ShownPage {
  return { template: 'forgot', title: site.t('forgot') }
}

/** Pages without content of their own. */
export const filledByScript = {
  account: ({ site }: Visit) => blank(site.t('myAccount'), '/account/plain'),
  orders: ({ site }: Visit) => blank(site.t('link.orders'), '/orders/plain'),
  order: ({ site, param }: Visit) => blank(site.t('order.name', { id: param }), `/orders/${param}/plain`),
  referrals: ({ site }: Visit) => blank(site.t('myReferrals'), null)
} satisfies Record<string, (visit: Visit) => ShownPage>

/** A page that its script fills. `plain` is its address without script; null if it has none. */
function blank(title: string, plain: string | null): ShownPage {
  return { template: 'blank', title, data: { plain } }
}

/** The page of the order that a buyer comes back with, which needs no script; null without an order. */
function orderPageOf(query: URLSearchParams): string | null {
  const token = query.get('orderToken') ?? ''
  return /^[\w-]{1,100}$/.test(token) ? `/checkout/done/${token}` : null
}
