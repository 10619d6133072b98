import type { App } from '../app.ts'
import { createClient, ShopError } from '../client/client.ts'
import { AppError } from '../errors.ts'
import type { Eventually } from '../platform/eventually.ts'
import { cookieValues } from '../platform/http/cookies.ts'
import { rawPath, rawTarget, socketAddress } from '../platform/http/node-request.ts'
import { requestInMemory } from '../platform/http/request-in-memory.ts'
import { currencyDecimals } from '../platform/money.ts'
import { isReady } from '../shop/payments/gateway.ts'
import { isModuleOn, setting } from '../shop/settings/settings.ts'
import type { AssetName } from './assets.ts'
import { readForm } from './form.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { asScript } from './storefront/json-ld.ts'
import { storeRoutes } from './storefront/routes.ts'
import type { StoreRoute } from './storefront/routes.ts'
import { PageNotFound } from './storefront/site.ts'
import type { Meta, Shown, Site, Visit } from './storefront/site.ts'

type Api = (request: Request) => Eventually<Response>

/**
 * The demo storefront: an example of a site that uses the service. Its code in storefront/ knows only the public API. What
 * a site of its own would configure comes from the settings, here. Pages with a script are the same for every visitor; their
 * scripts fetch personal data through the first-party proxy.
 */
export const storefrontPages: readonly PageRoute[] = [
  ...storeRoutes.map(storePage),
  scriptedPage('/cart', 'cart', ({ app }) => ({ template: 'cart', title: 'Your cart', data: checkoutFacts(app) })),
  scriptedPage('/thanks', 'thanks', ({ request }) => ({
    template: 'thanks',
    title: 'Your order',
    data: { orderPage: orderPageOf(request) }
  })),
  scriptedPage('/login', 'login', () => ({ template: 'login', title: 'Log in' })),
  scriptedPage('/register', 'register', ({ app }) => ({
    template: 'register',
    title: 'Create an account',
    data: { minLength: setting(app.db, 'registration.passwordMinLength') }
  })),
  scriptedPage('/forgot-password', 'forgot', () => ({ template: 'forgot', title: 'Forgot your password?' })),
  scriptedPage('/account', 'account', () => ({ template: 'blank', title: 'My account' })),
  scriptedPage('/orders', 'orders', () => ({ template: 'blank', title: 'My orders' })),
  {
    ...scriptedPage('/orders/:id', 'order', ({ param }) => ({ template: 'blank', title: `Order ${param}` })),
    path: /^\/orders\/([1-9]\d{0,14})$/
  },
  scriptedPage('/referrals', 'referrals', () => ({ template: 'blank', title: 'My referrals' }))
]

function storePage({ method = 'GET', name, path, script, show }: StoreRoute): PageRoute {
  const handle = async (call: PageCall): Promise<PageReply> => {
    requireOpen(call.app)
    const cookies: string[] = []
    try {
      const shown = await show(visitOf(call, cookies))
      return toReply(call, shown, { cookies, script })
    } catch (error) {
      if (error instanceof PageNotFound) throw notFound()
      if (error instanceof ShopError && error.code === 'NOT_FOUND') throw notFound()
      if (error instanceof ShopError && error.code === 'DEPENDENCY_UNAVAILABLE')
        throw new AppError('DEPENDENCY_UNAVAILABLE', error.message)
      throw error
    }
  }
  return { method, path, name, handle }
}

function scriptedPage(
  name: string,
  script: AssetName,
  show: (call: PageCall) => Extract<Shown, { template: string }>
): PageRoute {
  const handle = (call: PageCall): PageReply => {
    requireOpen(call.app)
    return toReply(call, show(call), { cookies: [], script })
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
    path: rawPath(rawTarget(request)),
    search: '',
    category: '',
    error: null,
    email: ''
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

function notFound(): AppError {
  return new AppError('NOT_FOUND', 'There is nothing at this address.')
}

/** @throws AppError NOT_FOUND while the shop has no storefront */
export function requireOpen(app: App): void {
  if (!isOpen(app)) throw notFound()
}

/** `dev` decides whether there is a storefront; `serve` uses the setting. */
export function isOpen({ config, db }: App): boolean {
  return config.storefront ?? setting(db, 'storefront.enabled')
}

function siteOf({ db, publicUrl }: App): Site {
  const links = [
    { label: 'Terms', url: setting(db, 'storefront.termsUrl') },
    { label: 'Privacy', url: setting(db, 'storefront.privacyUrl') },
    { label: 'Imprint', url: setting(db, 'storefront.imprintUrl') }
  ]
  return {
    name: setting(db, 'shop.name'),
    tagline: setting(db, 'storefront.tagline'),
    logoUrl: setting(db, 'storefront.logoUrl'),
    accentColor: setting(db, 'storefront.accentColor'),
    contact: setting(db, 'storefront.contact'),
    links: links.filter(({ url }) => url !== ''),
    language: setting(db, 'storefront.language'),
    currency: setting(db, 'shop.currency'),
    publicUrl: publicUrl()
  }
}

/** What every page passes to its script. */
function scriptFacts({ config, db, publicUrl, cards }: App): object {
  return {
    api: config.apiPrefix,
    proxy: '/api/secure',
    publicUrl: publicUrl(),
    decimals: currencyDecimals(setting(db, 'shop.currency')),
    hasAffiliates: isModuleOn(db, 'affiliates'),
    isSandbox: cards?.name === 'sandbox'
  }
}

/** The page of the order that a buyer comes back with, which needs no script; null without an order. */
function orderPageOf(request: Request): string | null {
  const target = rawTarget(request)
  const token = new URLSearchParams(target.slice(rawPath(target).length)).get('orderToken') ?? ''
  return /^[\w-]{1,100}$/.test(token) ? `/checkout/done/${token}` : null
}

function checkoutFacts({ config, db, cards }: App): object {
  return {
    testCards: cards?.name === 'sandbox' && isReady(cards) ? testCards : [],
    byHand: config.payments.includes('manual'),
    accounts: setting(db, 'checkout.accountCreation') && setting(db, 'registration.enabled'),
    minLength: setting(db, 'registration.passwordMinLength')
  }
}

/** One of Stripe's published test payment methods for each outcome of a payment. */
const testCards = [
  { token: 'pm_card_visa', label: 'Visa ending in 4242: goes through' },
  { token: 'pm_card_authenticationRequired', label: 'Visa ending in 3184: the bank asks first' },
  { token: 'pm_card_chargeDeclined', label: 'Visa ending in 0002: declined' },
  { token: 'pm_card_visa_chargeDeclinedInsufficientFunds', label: 'Visa ending in 9995: not enough money' },
  { token: 'pm_card_chargeDeclinedExpiredCard', label: 'Visa ending in 0069: expired' },
  { token: 'pm_sandbox_code_fraud', label: 'Visa ending in 4954: blocked as fraud' }
] as const
