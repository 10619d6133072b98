import type { H3, H3Event } from 'h3'
import type { App } from '../app.ts'
import { refuseCrossSite } from '../api/server.ts'
import { AppError } from '../errors.ts'
import { storageUnavailable } from '../platform/db/storage-errors.ts'
import { addressKey, clientAddress, parseTrustedProxies, socketAddress } from '../platform/http/client-address.ts'
import type { TrustedProxies } from '../platform/http/client-address.ts'
import { notFound } from '../platform/http/answers.ts'
import { serveAt } from '../platform/http/routing.ts'
import type { Methods } from '../platform/http/routing.ts'
import { describeError, clientLog } from '../platform/log.ts'
import { accountPages } from './account-pages.ts'
import { addressPages } from './address-form.ts'
import { loadAssets } from './assets.ts'
import { checkoutPages } from './pay-page.ts'
import { errorPage, readOnlyPage } from './shop-site.ts'
import { donePages, subscriptionPages } from './order-page.ts'
import { invoicePages } from './invoice-page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { createRenderer } from './render.ts'
import { storefrontPages } from './storefront-pages.ts'

/** Every page; the first whose path matches and whose method fits answers. */
export const pageRoutes: readonly PageRoute[] = [
  ...storefrontPages,
  ...addressPages,
  ...accountPages,
  ...donePages,
  ...subscriptionPages,
  ...invoicePages,
  ...checkoutPages
]

/** Serves what people see: account links, hosted checkout, the demo storefront, and the style of these pages. */
export function servePages(h3: H3, app: App): void {
  const render = createRenderer(app, loadAssets())
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
      refused: (error, { req }) => render(errorPage(app, error), req)
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

/** The page for a browser that requests an unknown address. */
export function createNotFoundPage(app: App): (request: Request) => Response {
  const render = createRenderer(app, loadAssets())
  return (request) => render(errorPage(app, notFound()), request)
}

/** The page for a browser that requests something else than the catalog from a machine that follows. */
export function createReadOnlyPage(app: App): (error: AppError, request: Request) => Response {
  const render = createRenderer(app, loadAssets())
  return (error, request) => render(readOnlyPage(app, error), request)
}

/** Whether the client prefers a page to JSON: browsers name HTML in Accept, programs do not. */
export function prefersHtml(request: Request): boolean {
  return isRead(request) && /\btext\/html\b/i.test(request.headers.get('accept') ?? '')
}

async function answer(
  { app, api }: Pick<PageCall, 'app' | 'api'>,
  trusted: TrustedProxies,
  route: PageRoute,
  request: Request,
  param = ''
): Promise<PageReply> {
  try {
    if (route.method === 'POST') refuseCrossSite(app, request)
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
