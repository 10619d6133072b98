import { changeAccount, openPlainOrder, register, sendReset, showAccount, showPlainOrders } from './account-forms.ts'
import { affiliateChart } from './affiliate-chart.ts'
import { changePlainCart, addToCart, logIn, showPlainCart, thankPlainly } from './forms.ts'
import { showOffers } from './offers-page.ts'
import { showProduct } from './product-page.ts'
import type { Shown, Visit } from './site.ts'
import { cart, filledByScript, forgotPassword, login, registration, thanks } from './scripted-pages.ts'
import { robots, sitemap, sitemapIndex } from './sitemap.ts'
import { theme } from './theme.ts'

/** The name of a script in assets/. */
export type StoreScript =
  | 'offers'
  | 'product'
  | 'cart'
  | 'thanks'
  | 'login'
  | 'register'
  | 'forgot'
  | 'account'
  | 'orders'
  | 'order'
  | 'referrals'

/** A page of the storefront. `script` is the name of the script that it loads. */
export type StoreRoute = {
  method?: 'GET' | 'POST'
  name: string
  path: RegExp
  script?: StoreScript
  show: (visit: Visit) => Shown | Promise<Shown>
}

/**
 * The pages that read the catalogue, the pages that a script fills with what belongs to the visitor, and the forms that work
 * without script.
 */
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
  { name: '/cart', path: /^\/cart$/, script: 'cart', show: cart },
  { name: '/thanks', path: /^\/thanks$/, script: 'thanks', show: thanks },
  { name: '/login', path: /^\/login$/, script: 'login', show: login },
  { name: '/register', path: /^\/register$/, script: 'register', show: registration },
  { name: '/forgot-password', path: /^\/forgot-password$/, script: 'forgot', show: forgotPassword },
  { name: '/account', path: /^\/account$/, script: 'account', show: filledByScript.account },
  { name: '/orders', path: /^\/orders$/, script: 'orders', show: filledByScript.orders },
  { name: '/orders/:id', path: /^\/orders\/([1-9]\d{0,14})$/, script: 'order', show: filledByScript.order },
  { name: '/referrals', path: /^\/referrals$/, script: 'referrals', show: filledByScript.referrals },
  { name: '/theme-:colour.css', path: /^\/theme-([0-9a-f]{6})\.css$/, show: ({ param }) => theme(param) }
]
