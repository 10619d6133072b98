import { changeAccount, openPlainOrder, register, sendReset, showAccount, showPlainOrders } from './account-forms.ts'
import { affiliateChart } from './affiliate-chart.ts'
import { changePlainCart, addToCart, logIn, showPlainCart, thankPlainly } from './forms.ts'
import { showOffers } from './offers-page.ts'
import { showProduct } from './product-page.ts'
import type { Shown, Visit } from './site.ts'
import { robots, sitemap, sitemapIndex } from './sitemap.ts'
import { theme } from './theme.ts'

/** A page of the storefront. `script` is the name of the script that it loads. */
export type StoreRoute = {
  method?: 'GET' | 'POST'
  name: string
  path: RegExp
  script?: 'offers' | 'product'
  show: (visit: Visit) => Shown | Promise<Shown>
}

/** The pages that read the catalogue, and the forms that work without script. */
export const storeRoutes: readonly StoreRoute[] = [
  { name: '/', path: /^\/$/, script: 'offers', show: showOffers },
  { name: '/products/:slug', path: /^\/products\/([a-z0-9_-]{1,255})$/, script: 'product', show: showProduct },
  { name: '/cart', method: 'POST', path: /^\/cart$/, show: addToCart },
  { name: '/cart/plain', path: /^\/cart\/plain$/, show: showPlainCart },
  { name: '/cart/plain', method: 'POST', path: /^\/cart\/plain$/, show: changePlainCart },
  { name: '/thanks/plain', path: /^\/thanks\/plain$/, show: thankPlainly },
  { name: '/login', method: 'POST', path: /^\/login$/, show: logIn },
  { name: '/register', method: 'POST', path: /^\/register$/, show: register },
  { name: '/forgot-password', method: 'POST', path: /^\/forgot-password$/, show: sendReset },
  { name: '/account/plain', path: /^\/account\/plain$/, show: showAccount },
  { name: '/account/plain', method: 'POST', path: /^\/account\/plain$/, show: changeAccount },
  { name: '/orders/plain', path: /^\/orders\/plain$/, show: showPlainOrders },
  { name: '/orders/:id/plain', path: /^\/orders\/([1-9]\d{0,14})\/plain$/, show: openPlainOrder },
  { name: '/referrals/chart.svg', path: /^\/referrals\/chart\.svg$/, show: affiliateChart },
  { name: '/robots.txt', path: /^\/robots\.txt$/, show: robots },
  { name: '/sitemap.xml', path: /^\/sitemap\.xml$/, show: sitemapIndex },
  { name: '/sitemap-:file.xml', path: /^\/sitemap-([1-9]\d{0,3})\.xml$/, show: sitemap },
  { name: '/theme-:colour.css', path: /^\/theme-([0-9a-f]{6})\.css$/, show: ({ param }) => theme(param) }
]
