import { hash } from 'node:crypto'
import type { H3, H3Event } from 'h3'
import type { App } from '../app.ts'
import { refuseCrossSite } from '../api/server.ts'
import { AppError } from '../errors.ts'
import { storageUnavailable } from '../platform/db/storage-errors.ts'
import { findRedirect } from '../shop/redirects/redirects.ts'
import { isolationHeaders, matchesEtag, notFound } from '../platform/http/answers.ts'
import {
  addressKey,
  clientAddress,
  parseTrustedProxies,
  rawTarget,
  socketAddress
} from '../platform/http/client-address.ts'
import type { TrustedProxies } from '../platform/http/client-address.ts'
import { serveAt } from '../platform/http/routing.ts'
import type { Methods } from '../platform/http/routing.ts'
import { clientLog, describeError } from '../platform/log.ts'
import { assetPath } from '../platform/package-root.ts'
import { openTemplates } from '../platform/templates.ts'
import { accountPages } from './account-pages.ts'
import { addressPages } from './address-form.ts'
import { acceptedEncoding, compressedPage } from '../platform/http/compression.ts'
import { loadAssets } from './assets.ts'
import type { Encoding } from '../platform/http/compression.ts'
import type { Assets } from './assets.ts'
import { lawTextPages } from './law-pages.ts'
import { invoicePages } from './invoice-page.ts'
import { missingAddressPages } from './missing-address.ts'
import { declarationPages } from './declaration-pages.ts'
import { donePages, subscriptionPages } from './order-page.ts'
import type { HtmlReply, PageCall, PageReply, PageRoute } from './page.ts'
import { checkoutPages } from './pay-page.ts'
import { provePages } from './prove-page.ts'
import { chooseLanguage, forVisitor, languageUrl } from './language-choice.ts'
import { shippingPages } from './shipping-page.ts'
import { statementPages } from './statement-page.ts'
import { errorPage, readOnlyPage } from './shop-site.ts'
import { offeredLanguages } from '../shop/settings/language.ts'
import { unsubscribePages } from './unsubscribe-page.ts'
import { storefrontPages } from './storefront-pages.ts'
import { wellKnownPages } from './well-known.ts'

/** Every page; the first whose path matches and whose method fits answers. */
export const pageRoutes: readonly PageRoute[] = [
  ...storefrontPages,
  ...wellKnownPages,
  ...addressPages,
  ...accountPages,
  ...donePages,
  ...missingAddressPages,
  ...subscriptionPages,
  ...provePages,
  ...invoicePages,
  ...statementPages,
  ...shippingPages,
  ...lawTextPages,
  ...declarationPages,
  ...unsubscribePages,
  ...checkoutPages
]

/** Serves what people see: account links, hosted checkout, the demo storefront, and the style of these pages. */
export function servePages(h3: H3, app: App): void {
  const render = createRenderer(app)
  const trusted = parseTrustedProxies(app.config.trustedProxies)
  const api: PageCall['api'] = (request) => h3.fetch(request)
  for (const [source, routes] of Map.groupBy(pageRoutes, ({ path }) => path.source)) {
    const handlers: Methods = Object.fromEntries(
      routes.map((route) => [
        route.method,
        async ({ req, context }: H3Event) =>
          render(await answer({ app, api }, trusted, route, req, context.params?.['param']), req)
      ])
    )
    serveAt(h3, patternOf(source), handlers, {
      meta: { record: { kind: 'page', path: routes[0]?.name ?? source } },
      refused: (error, { req }) => render(errorPage(forVisitor(app, req), error), req)
    })
  }
  serveAssets(h3)
}

/** The h3 pattern of a page's path, whose group is the call's `param`. */
function patternOf(source: string): string {
  return source
    .slice(1, -1)
    .replaceAll(String.raw`\/`, '/')
    .replaceAll(String.raw`\.`, '.')
    .replace('(', ':param(')
}

/** Serves the style of the pages. */
export function serveAssets(h3: H3): void {
  serveAt(h3, '/assets/**', {
    GET: ({ req, url }) => {
      const asset = loadAssets().find(url.pathname, req)
      if (asset === undefined) throw notFound()
      return asset
    }
  })
}

/** The page for a browser that requests an unknown address: where it leads now, if there is a redirect. */
export function createNotFoundPage(app: App): (request: Request) => Response {
  const render = createRenderer(app)
  return (request) => {
    const redirect = findRedirect(app, rawTarget(request))
    const reply =
      redirect === undefined ? errorPage(forVisitor(app, request), notFound()) : { redirect, isMoved: true as const }
    return render(reply, request)
  }
}

/** The page for a browser that requests something else than the catalog from a machine that follows. */
export function createReadOnlyPage(app: App): (error: AppError, request: Request) => Response {
  const render = createRenderer(app)
  return (error, request) => render(readOnlyPage(forVisitor(app, request), error), request)
}

/** Whether the client prefers a page to JSON: browsers name HTML in Accept, programs do not. */
export function prefersHtml(request: Request): boolean {
  return isRead(request) && /\btext\/html\b/i.test(request.headers.get('accept') ?? '')
}

async function answer(
  { app: shop, api }: Pick<PageCall, 'app' | 'api'>,
  trusted: TrustedProxies,
  route: PageRoute,
  request: Request,
  param = ''
): Promise<PageReply> {
  const chosen = chooseLanguage(shop, request)
  if (chosen !== null) return chosen
  const app = forVisitor(shop, request)
  try {
    if (route.method === 'POST') refuseCrossSite(app, request, trusted)
    const address = clientAddress(socketAddress(request), request.headers.get('x-forwarded-for'), trusted)
    return await route.handle({ app, api, request, now: app.clock.now(), addressKey: addressKey(address), param })
  } catch (error) {
    if (error instanceof AppError && error.status !== 500) return errorPage(app, error)
    const unavailable = storageUnavailable(error)
    clientLog(app.log).error('a page failed', { path: route.name, error: describeError(error) })
    return errorPage(app, unavailable ?? new AppError('INTERNAL_SERVER_ERROR', 'Something went wrong on our side.'))
  }
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Turns replies into responses with the headers of every page. */
export function createRenderer(
  app: App,
  assets: Assets = loadAssets()
): (reply: PageReply, request: Request) => Response {
  const templates = openTemplates(assetPath('pages', 'templates'))
  return (reply, request) => {
    if ('redirect' in reply) return redirection(reply)
    if ('text' in reply) {
      const caching = reply.isPrivate === true ? 'no-store' : 'public, max-age=300'
      return new Response(reply.text, { headers: { ...contentHeaders(reply.type), 'cache-control': caching } })
    }
    if ('file' in reply) return privateFile(reply, reply.file, 'inline')
    if ('stream' in reply) return privateFile(reply, reply.stream, 'attachment')
    const { title, script, template, data } = reply
    const common = { title, assets: assets.urls, scripts: script === undefined ? [] : assets.modulesOf(script) }
    const links = { languageUrl: languageUrl(request) }
    return htmlResponse(app, reply, templates.html(`${template}.eta`, { ...common, ...links, ...data }), request)
  }
}

const contentHeaders = (type: string) => ({ 'content-type': type, 'x-content-type-options': 'nosniff' })

function cookieHeaders(setCookie: HtmlReply['setCookie'] = []): [string, string][] {
  return [setCookie].flat().map((cookie) => ['set-cookie', cookie])
}

function redirection({ redirect, setCookie, isMoved }: Extract<PageReply, { redirect: string }>): Response {
  const headers: [string, string][] = [
    ['location', redirect],
    // Without a time, browsers keep a move for ever, and the shop could not correct it.
    ['cache-control', isMoved ? 'public, max-age=3600' : 'no-store'],
    // Other sites must not get an address with a token. Pages of the shop read from which one the visitor comes.
    ['referrer-policy', 'same-origin'],
    ...cookieHeaders(setCookie)
  ]
  return new Response(null, { status: isMoved ? 301 : 303, headers })
}

function privateFile(
  { type, name }: { type: string; name: string },
  content: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  disposition: 'inline' | 'attachment'
): Response {
  return new Response(content, {
    headers: {
      ...contentHeaders(type),
      'content-disposition': `${disposition}; filename="${name}"`,
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-robots-tag': 'noindex',
      ...(type.startsWith('text/html') ? { 'content-security-policy': printedPagePolicy, ...isolationHeaders } : {})
    }
  })
}

/** A page to print has its style in itself, and runs and loads nothing. */
const printedPagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"

function htmlResponse(app: App, reply: HtmlReply, html: string, request: Request): Response {
  const { status, leadsTo = [], setCookie, script, pictureFrom } = reply
  const isPublic = reply.indexed === true && status === 200
  const headers = new Headers({
    ...contentHeaders('text/html; charset=utf-8'),
    'content-security-policy': contentSecurityPolicy(script !== undefined, [app.publicUrl(), ...leadsTo], pictureFrom),
    // Paths and queries contain tokens, which other sites must not get. With no-referrer, browsers send forms with
    // `Origin: null` (Fetch, "append a request Origin header"), which are refused without Sec-Fetch-Site.
    'referrer-policy': 'same-origin',
    ...isolationHeaders,
    ...reply.headers
  })
  if (isPublic) return publicPage(headers, html, request, offeredLanguages(app.db).length === 1)
  headers.set('cache-control', 'no-store')
  headers.set('x-robots-tag', 'noindex')
  for (const [name, cookie] of cookieHeaders(setCookie)) headers.append(name, cookie)
  // A page with personal data is not compressed, because the length could reveal it (BREACH).
  return new Response(html, { status, headers })
}

/** A page that is the same for everyone: a CDN keeps it for a minute, and a browser asks each time. */
function publicPage(headers: Headers, html: string, request: Request, isInOneLanguage: boolean): Response {
  const encoding = acceptedEncoding(request)
  const etag = etagOf(html, encoding)
  headers.set('cache-control', 'public, max-age=0, s-maxage=60')
  headers.set('vary', `accept-encoding${isInOneLanguage ? '' : ', accept-language, cookie'}`)
  headers.set('etag', etag)
  if (encoding !== null) headers.set('content-encoding', encoding)
  if (matchesEtag(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers })
  return new Response(encoding === null ? html : compressedPage(html, encoding), { headers })
}

/** The tag of a page in one encoding; each encoding has its own (RFC 9110 8.8.3.3). */
function etagOf(html: string, encoding: Encoding | null): string {
  return `"${hash('sha256', html, 'base64url').slice(0, 22)}${encoding === null ? '' : `-${encoding}`}"`
}

/** Chromium also applies form-action to the redirect that answers a form, so its target must be listed. */
function contentSecurityPolicy(isScripted: boolean, leadsTo: readonly (string | null)[], pictureFrom?: string): string {
  const sources = new Set(leadsTo.flatMap((url) => (url === null ? [] : [sourceOf(url)])))
  return [
    "default-src 'none'",
    ...(isScripted ? ["script-src 'self'", "connect-src 'self'"] : []),
    "style-src 'self'",
    `img-src 'self' data:${pictureFrom === undefined ? '' : ` ${sourceOf(pictureFrom)}`}`,
    "manifest-src 'self'",
    `form-action 'self' ${[...sources].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'"
  ].join('; ')
}

/**
 * An origin or a scheme (`https:`). The scheme also covers hosts that a policy cannot name: IPv6 addresses, and hosts
 * with other characters than these.
 */
function sourceOf(url: string): string {
  if (/^https?:$/.test(url)) return url
  const { hostname, protocol, origin } = new URL(url)
  return /^[a-z\d.-]+$/.test(hostname) ? origin : protocol
}
