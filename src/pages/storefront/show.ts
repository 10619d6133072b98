import { ShopError } from '../../client/client.ts'
import { asScript } from './json-ld.ts'
import type { StoreRoute } from './routes.ts'
import { PageNotFound } from './site.ts'
import type { Meta, Shown, ShownPage, Site, Visit } from './site.ts'

/** What a route shows. `isInstead` says that it is another page than the route's own, which loads no script. */
export type Answered = { shown: Shown; isInstead: boolean }

/**
 * The page of a route, or the page instead of it for a request that the API refused.
 *
 * @param path the address as it was sent, to which a login leads back
 * @throws ShopError DEPENDENCY_UNAVAILABLE, and any other error that has no page of its own
 */
export async function showRoute({ show }: StoreRoute, visit: Visit, path: string): Promise<Answered> {
  try {
    return { shown: await show(visit), isInstead: false }
  } catch (error) {
    return { shown: pageInstead(error, visit.site, path), isInstead: true }
  }
}

function pageInstead(error: unknown, site: Site, path: string): Shown {
  if (error instanceof PageNotFound) return missingPage(site)
  if (!(error instanceof ShopError)) throw error
  if (error.code === 'NOT_FOUND') return missingPage(site)
  if (error.code === 'NOT_AUTHENTICATED') return { redirect: `/login?next=${encodeURIComponent(path)}` }
  if (error.status < 400 || error.status >= 500) throw error
  return { ...messagePage(site, site.t('page.failed'), error.message), status: error.status }
}

function missingPage(site: Site): ShownPage {
  return { ...messagePage(site, site.t('missing'), site.t('missingText')), status: 404 }
}

function messagePage({ t }: Site, title: string, text: string): ShownPage {
  return { template: 'message', title, data: { text, links: [{ label: t('link.shop'), url: '/' }] } }
}

/** The data of a page's template, besides the addresses of assets. */
export function templateData({ title, data, meta }: ShownPage, site: Site, path: string): object {
  const { name, t, api, proxy, publicUrl, decimals, hasAffiliates, isSandbox, minLength } = site
  return {
    title,
    shopName: name,
    site,
    t,
    path,
    api,
    proxy,
    publicUrl,
    decimals,
    hasAffiliates,
    isSandbox,
    minLength,
    search: '',
    isSignedIn: false,
    hasStorefront: true,
    error: null,
    meta: meta === undefined ? null : metaFacts(meta, site),
    ...data
  }
}

function metaFacts({ description, path, image, jsonLd }: Meta, { publicUrl }: Site) {
  return {
    description,
    canonical: path === null ? null : `${publicUrl}${path}`,
    image,
    jsonLd: jsonLd === null ? null : asScript(jsonLd)
  }
}
