import { ShopError } from '../../client/client.ts'
import { changeAccount, showAccount } from './account-page.ts'
import { takeCart, showCart } from './cart-page.ts'
import { message } from './form-view.ts'
import { showOffers } from './offers-page.ts'
import { cancelThanked, changeOrder, showOrder, showOrders, showThanks } from './order-pages.ts'
import { showProduct } from './products.ts'
import { manifest, robots, sitemap, sitemapIndex, theme } from './public-files.ts'
import { changeReferrals, showReferrals } from './referrals-page.ts'
import { logIn, register, sendReset, showForgot, showLogin, showRegister } from './sign-in.ts'
import { PageNotFound } from './site.ts'
import type { Shown, ShownPage, Site, Visit } from './site.ts'

/** The name of a script in assets/. */
export type StoreScript = 'offers' | 'product' | 'shell' | 'copy-link'

/** A page of the storefront. `script` is the name of the script that it loads. */
export type StoreRoute = {
  method?: 'GET' | 'POST'
  name: string
  path: RegExp
  script?: StoreScript
  /** Whether the shop's other pages need it too, so that it is there without a storefront. */
  isShared?: boolean
  show: (visit: Visit) => Shown | Promise<Shown>
}

const orderPath = /^\/orders\/([1-9]\d{0,14})$/

/**
 * The pages that read the catalog, the pages that a script fills with what belongs to the visitor, and the forms that work
 * without script.
 */
export const storeRoutes: readonly StoreRoute[] = [
  { name: '/', path: /^\/$/, script: 'offers', show: showOffers },
  { name: '/products/:slug', path: /^\/products\/([a-z0-9_-]{1,255})$/, script: 'product', show: showProduct },
  { name: '/cart', path: /^\/cart$/, script: 'shell', show: showCart },
  { name: '/cart', method: 'POST', path: /^\/cart$/, script: 'shell', show: takeCart },
  { name: '/thanks', path: /^\/thanks$/, script: 'shell', show: showThanks },
  { name: '/thanks', method: 'POST', path: /^\/thanks$/, script: 'shell', show: cancelThanked },
  { name: '/login', path: /^\/login$/, script: 'shell', show: showLogin },
  { name: '/login', method: 'POST', path: /^\/login$/, script: 'shell', show: logIn },
  { name: '/register', path: /^\/register$/, script: 'shell', show: showRegister },
  { name: '/register', method: 'POST', path: /^\/register$/, script: 'shell', show: register },
  { name: '/forgot-password', path: /^\/forgot-password$/, script: 'shell', show: showForgot },
  { name: '/forgot-password', method: 'POST', path: /^\/forgot-password$/, script: 'shell', show: sendReset },
  { name: '/account', path: /^\/account$/, script: 'shell', show: showAccount },
  { name: '/account', method: 'POST', path: /^\/account$/, script: 'shell', show: changeAccount },
  { name: '/orders', path: /^\/orders$/, script: 'shell', show: showOrders },
  { name: '/orders/:id', path: orderPath, script: 'shell', show: showOrder },
  { name: '/orders/:id', method: 'POST', path: orderPath, script: 'shell', show: changeOrder },
  { name: '/referrals', path: /^\/referrals$/, script: 'copy-link', show: showReferrals },
  { name: '/referrals', method: 'POST', path: /^\/referrals$/, script: 'copy-link', show: changeReferrals },
  { name: '/site.webmanifest', path: /^\/site\.webmanifest$/, show: manifest },
  {
    // Password managers lead their users here (https://www.w3.org/TR/change-password-url/).
    name: '/.well-known/change-password',
    path: /^\/\.well-known\/change-password$/,
    show: () => ({ redirect: '/account' })
  },
  { name: '/robots.txt', path: /^\/robots\.txt$/, show: robots },
  { name: '/sitemap.xml', path: /^\/sitemap\.xml$/, show: sitemapIndex },
  { name: '/sitemap-:file.xml', path: /^\/sitemap-([1-9]\d{0,3})\.xml$/, show: sitemap },
  {
    name: '/theme-:colour.css',
    path: /^\/theme-([0-9a-f]{6})\.css$/,
    isShared: true,
    show: ({ param }) => theme(param)
  }
]

/** What a route shows. `isInstead` says that it is another page than the route's own, which loads no script. */
export type Answered = { shown: Shown; isInstead: boolean }

/** The parameters by which WordPress numbers its pages: `/?p=12` is none of ours. */
const numbered = ['p', 'product', 'page_id']

/**
 * The page of a route, or the page instead of it for a request that the API refused.
 *
 * @param path the address as it was sent, to which a login leads back
 * @throws ShopError DEPENDENCY_UNAVAILABLE, and any other error that has no page of its own
 */
export async function showRoute({ show }: StoreRoute, visit: Visit, path: string): Promise<Answered> {
  try {
    const moved = path === '/' && numbered.some((name) => visit.query.has(name)) ? await findMoved(visit, path) : null
    return { shown: moved ?? (await show(visit)), isInstead: moved !== null }
  } catch (error) {
    const moved = isMissing(error) ? await findMoved(visit, path) : null
    return { shown: moved ?? pageInstead(error, visit.site, path), isInstead: true }
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof PageNotFound || (error instanceof ShopError && error.code === 'NOT_FOUND')

/** Where an address of a former shop leads now. */
async function findMoved({ client, query }: Visit, path: string): Promise<Shown | null> {
  const to = await client.redirects.find(query.size === 0 ? path : `${path}?${query.toString()}`)
  return to === null ? null : { redirect: to, isMoved: true }
}

function pageInstead(error: unknown, site: Site, path: string): Shown {
  if (isMissing(error)) return missingPage(site)
  if (!(error instanceof ShopError)) throw error
  if (error.code === 'NOT_AUTHENTICATED') return { redirect: `/login?next=${encodeURIComponent(path)}` }
  if (error.status < 400 || error.status >= 500) throw error
  return message(site.t('page.failed'), error.message, homeLinks(site), error.status)
}

function missingPage(site: Site): ShownPage {
  return message(site.t('missing'), site.t('missingText'), homeLinks(site), 404)
}

const homeLinks = ({ t }: Site) => [{ label: t('link.shop'), url: '/' }]
