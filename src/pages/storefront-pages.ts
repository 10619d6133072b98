import { createClient, ShopError } from '../client/client.ts'
import { AppError } from '../errors.ts'
import { cookiesOf, cookieValues } from '../platform/http/cookies.ts'
import { fromAddress, rawPath, rawTarget, socketAddress } from '../platform/http/client-address.ts'
import { setting } from '../shop/settings/settings.ts'
import type { AssetName } from './assets.ts'
import { addressFormOf } from './address-form.ts'
import { readForm } from './page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { storeRoutes, showRoute } from './storefront/routes.ts'
import type { StoreRoute } from './storefront/routes.ts'
import type { Shown, Visit } from './storefront/site.ts'
import { requireOpen, shopPage, siteOf } from './shop-site.ts'

/**
 * The demo storefront: an example of a site that uses the service. Its code in storefront/ knows only the public API, and
 * `shopstead create` copies it into a site of its own. What such a site would configure comes from the settings, here.
 */
export const storefrontPages: readonly PageRoute[] = storeRoutes.map(storePage)

function storePage(route: StoreRoute): PageRoute {
  const { method = 'GET', name, path, script, isShared = false } = route
  const handle = async (call: PageCall): Promise<PageReply> => {
    if (!isShared) requireOpen(call.app)
    const cookies: string[] = []
    const visit = visitOf(call, cookies)
    const { shown, isInstead } = await showRoute(route, visit, rawPath(rawTarget(call.request))).catch(asAppError)
    return toReply(call, shown, visit, isInstead ? { cookies: [], script: undefined } : { cookies, script })
  }
  return { method, path, name, handle }
}

function asAppError(error: unknown): never {
  if (!(error instanceof ShopError) || error.code !== 'DEPENDENCY_UNAVAILABLE') throw error
  throw new AppError('DEPENDENCY_UNAVAILABLE', error.message)
}

function toReply(
  { app, request }: PageCall,
  shown: Shown,
  { site }: Visit,
  { cookies, script }: { cookies: string[]; script: AssetName | undefined }
): PageReply {
  if ('redirect' in shown) return { ...shown, setCookie: [...cookies, ...(shown.cookies ?? [])] }
  if ('text' in shown) return shown
  return {
    ...shopPage(app, shown, { hasNav: true, path: rawPath(rawTarget(request)) }, site),
    setCookie: [...cookies, ...(shown.cookies ?? [])],
    // Stripe's page can have the shop's own domain, which is not known here.
    ...(shown.template === 'cart' && app.cards?.name === 'stripe' ? { leadsTo: ['https:'] } : {}),
    ...(script === undefined ? {} : { script }),
    ...(shown.meta?.path == null ? {} : { indexed: true })
  }
}

/** The visitor's request. Their cookies go to the API, and the ones that it sets come back. */
function visitOf(call: PageCall, cookies: string[]): Visit {
  const { app, request, param } = call
  const sent = request.headers.get('cookie')
  const target = rawTarget(request)
  const site = siteOf(app)
  return {
    site,
    client: createClient({ baseUrl: app.config.apiPrefix, fetch: inProcess(call, site.lang, cookies) }),
    query: new URLSearchParams(target.slice(rawPath(target).length)),
    param,
    cookie: (name) => cookieValues(sent, name)[0],
    form: () => readForm(request),
    addressForm: (typed, check) => Promise.resolve(addressFormOf(app, request, typed, check))
  }
}

/** Sends the client's requests to the API without a network connection, as from the visitor's address. */
function inProcess({ app, api, request }: PageCall, language: string, cookies: string[]) {
  const country = [setting(app.db, 'tax.countryHeader')].filter((name) => name !== '')
  return async (target: string, init: RequestInit): Promise<Response> => {
    const passed = ['x-forwarded-for', 'user-agent', ...country].flatMap((name) => {
      const value = request.headers.get(name)
      return value === null ? [] : [[name, value] satisfies [string, string]]
    })
    const cookie = currentCookies(request.headers.get('cookie'), cookies)
    if (cookie !== '') passed.push(['cookie', cookie])
    const sent = {
      ...init,
      headers: [...new Headers(init.headers), ...passed, ['accept-language', language]] satisfies [string, string][]
    }
    const asked = new Request(new URL(target, 'http://localhost'), sent)
    const response = await api(fromAddress(asked, socketAddress(request)))
    cookies.push(...response.headers.getSetCookie())
    return response
  }
}

/** The visitor's cookies after the earlier calls of this page have set some. */
function currentCookies(header: string | null, set: readonly string[]): string {
  const pairs = set.map((line) => line.split(';')[0] ?? '')
  const isSet = (name: string): boolean => pairs.some((pair) => pair.startsWith(`${name}=`))
  const kept = cookiesOf(header).flatMap(([name, value]) => (isSet(name) ? [] : [`${name}=${value}`]))
  return [...kept, ...pairs].join('; ')
}
