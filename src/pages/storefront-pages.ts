import { createClient, ShopError } from '../client/client.ts'
import { AppError } from '../errors.ts'
import type { Eventually } from '../platform/eventually.ts'
import { cookieValues } from '../platform/http/cookies.ts'
import { rawPath, rawTarget, socketAddress } from '../platform/http/node-request.ts'
import { requestInMemory } from '../platform/http/request-in-memory.ts'
import { setting } from '../shop/settings/settings.ts'
import type { AssetName } from './assets.ts'
import { readForm } from './read-form.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { asScript } from './storefront/json-ld.ts'
import { storeRoutes } from './storefront/routes.ts'
import type { StoreRoute } from './storefront/routes.ts'
import { PageNotFound } from './storefront/site.ts'
import type { Meta, Shown, Site, Visit } from './storefront/site.ts'
import { checkoutFacts, requireOpen, scriptFacts, siteOf } from './storefront-settings.ts'

/** A page with a template. */
type Page = Extract<Shown, { template: string }>

type Api = (request: Request) => Eventually<Response>

/**
 * The demo storefront: an example of a site that uses the service. Its code in storefront/ knows only the public API. What
 * a site of its own would configure comes from the settings, here. Pages with a script are the same for every visitor; their
 * scripts fetch personal data through the first-party proxy.
 */
export const storefrontPages: readonly PageRoute[] = [
  ...storeRoutes.map(storePage),
  scriptedPage('/cart', 'cart', ({ app }, { t }) => ({
    template: 'cart',
    title: t('yourCart'),
    data: { ...checkoutFacts(app), plain: '/cart/plain' }
  })),
  scriptedPage('/thanks', 'thanks', ({ request }, { t }) => ({
    template: 'thanks',
    title: t('yourOrder'),
    data: { orderPage: orderPageOf(request) }
  })),
  scriptedPage('/login', 'login', (_call, { t }) => ({ template: 'login', title: t('link.logIn') })),
  scriptedPage('/register', 'register', (_call, { t }) => ({ template: 'register', title: t('link.register') })),
  scriptedPage('/forgot-password', 'forgot', (_call, { t }) => ({ template: 'forgot', title: t('forgot') })),
  scriptedPage('/account', 'account', (_call, { t }) => blank(t('myAccount'), '/account/plain')),
  scriptedPage('/orders', 'orders', (_call, { t }) => blank(t('link.orders'), '/orders/plain')),
  {
    ...scriptedPage('/orders/:id', 'order', ({ param }, { t }) =>
      blank(t('order.name', { id: param }), `/orders/${param}/plain`)
    ),
    path: /^\/orders\/([1-9]\d{0,14})$/
  },
  scriptedPage('/referrals', 'referrals', (_call, { t }) => blank(t('myReferrals'), null))
]

function storePage({ method = 'GET', name, path, script, show }: StoreRoute): PageRoute {
  const handle = async (call: PageCall): Promise<PageReply> => {
    requireOpen(call.app)
    const cookies: string[] = []
    try {
      const shown = await show(visitOf(call, cookies))
      return toReply(call, shown, { cookies, script })
    } catch (error) {
      return toReply(call, instead(call, error), { cookies: [], script: undefined })
    }
  }
  return { method, path, name, handle }
}

/** The page for a request that the API refused. */
function instead({ app, request }: PageCall, error: unknown): Shown {
  if (error instanceof PageNotFound) return missingPage(siteOf(app))
  if (!(error instanceof ShopError)) throw error
  switch (error.code) {
    case 'NOT_FOUND':
      return missingPage(siteOf(app))
    case 'NOT_AUTHENTICATED':
      return { redirect: `/login?next=${encodeURIComponent(rawPath(rawTarget(request)))}` }
    case 'DEPENDENCY_UNAVAILABLE':
      throw new AppError('DEPENDENCY_UNAVAILABLE', error.message)
    default:
      throw error
  }
}

function missingPage({ t }: Site): Shown {
  const links = [{ label: t('link.shop'), url: '/' }]
  return { status: 404, template: 'message', title: t('missing'), data: { text: t('missingText'), links } }
}

/** A page that its script fills. `plain` is its address without script; null if it has none. */
function blank(title: string, plain: string | null): Page {
  return { template: 'blank', title, data: { plain } }
}

function scriptedPage(name: string, script: AssetName, show: (call: PageCall, site: Site) => Page): PageRoute {
  const handle = (call: PageCall): PageReply => {
    requireOpen(call.app)
    return toReply(call, show(call, siteOf(call.app)), { cookies: [], script })
  }
  return { method: 'GET', path: new RegExp(`^${name}$`), name, handle }
}

function toReply(
  { app, request }: PageCall,
  shown: Shown,
  { cookies, script }: { cookies: string[]; script: AssetName | undefined }
): PageReply {
  if ('redirect' in shown) return { redirect: shown.redirect, setCookie: [...cookies, ...(shown.cookies ?? [])] }
  if ('text' in shown) return shown
  const { status = 200, template, title, data = {}, meta } = shown
  const site = siteOf(app)
  const common = {
    ...scriptFacts(app),
    site,
    t: site.t,
    path: rawPath(rawTarget(request)),
    minLength: setting(app.db, 'registration.passwordMinLength'),
    search: '',
    plain: null,
    error: null,
    email: '',
    values: {},
    refused: {}
  }
  return {
    status,
    template: `storefront/${template}`,
    title,
    ...(script === undefined ? {} : { script }),
    ...(meta?.path == null ? {} : { indexed: true }),
    ...(site.logoUrl === '' ? {} : { pictureFrom: site.logoUrl }),
    data: { ...common, meta: meta === undefined ? null : metaFacts(meta, site), ...data }
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

/** The visitor's request. Their cookies go to the API, and the ones that it sets come back. */
function visitOf({ app, request, param, api }: PageCall, cookies: string[]): Visit {
  const sent = request.headers.get('cookie')
  const target = rawTarget(request)
  return {
    site: siteOf(app),
    client: createClient({ baseUrl: app.config.apiPrefix, fetch: inProcess(api, request, cookies) }),
    query: new URLSearchParams(target.slice(rawPath(target).length)),
    param,
    cookie: (name) => cookieValues(sent, name)[0],
    form: () => readForm(request)
  }
}

/** Sends the client's requests to the API without a network connection, as from the visitor's address. */
function inProcess(api: Api, request: Request, cookies: string[]) {
  return async (target: string, init: RequestInit): Promise<Response> => {
    const passed = ['cookie', 'x-forwarded-for', 'user-agent'].flatMap((name) => {
      const value = request.headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    const body = typeof init.body === 'string' ? new TextEncoder().encode(init.body) : null
    const headers = [...new Headers(init.headers), ...passed]
    const { method = 'GET' } = init
    const response = await api(
      requestInMemory({ method, target, headers, body, remoteAddress: socketAddress(request) })
    )
    cookies.push(...response.headers.getSetCookie())
    return response
  }
}

/** The page of the order that a buyer comes back with, which needs no script; null without an order. */
function orderPageOf(request: Request): string | null {
  const target = rawTarget(request)
  const token = new URLSearchParams(target.slice(rawPath(target).length)).get('orderToken') ?? ''
  return /^[\w-]{1,100}$/.test(token) ? `/checkout/done/${token}` : null
}
