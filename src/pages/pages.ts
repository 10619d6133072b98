import type { App } from '../app.ts'
import { refuseCrossSite } from '../api/identity.ts'
import { AppError } from '../errors.ts'
import { storageUnavailable } from '../platform/db/storage-errors.ts'
import { addressKey, clientAddress, parseTrustedProxies } from '../platform/http/client-address.ts'
import type { TrustedProxies } from '../platform/http/client-address.ts'
import { rawPath, rawTarget, socketAddress } from '../platform/http/node-request.ts'
import { beginRequest } from '../platform/http/requests-in-progress.ts'
import { describeError } from '../platform/log.ts'
import { clientLog } from '../platform/repeated-lines.ts'
import { accountPages } from './account-pages.ts'
import { addressPages } from './address-page.ts'
import { loadAssets } from './assets.ts'
import { checkoutPages } from './pay-page.ts'
import { errorPage } from './error-page.ts'
import { donePages } from './order-page.ts'
import { invoicePages } from './invoice-page.ts'
import { messagePage } from './page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { createRenderer } from './render.ts'
import { storefrontPages } from './storefront-pages.ts'
import { subscriptionPages } from './subscription-page.ts'

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

/**
 * Serves what people see: account links, hosted checkout, the demo storefront, and the style of these pages. Undefined
 * for a path without a page.
 *
 * @param api the API's handler, which the storefront calls
 */
export function createPages(app: App, api: PageCall['api']): (request: Request) => Promise<Response | undefined> {
  const assets = loadAssets()
  const render = createRenderer(app, assets)
  const trusted = parseTrustedProxies(app.config.trustedProxies)
  return async (request) => {
    // URL and routers resolve `..` and `%2e`. A page is served only at its exact path.
    const path = rawPath(rawTarget(request))
    const matching = pageRoutes.filter((route) => route.path.test(path))
    if (matching.length === 0) return isRead(request) ? assets.find(path, request) : undefined
    const started = performance.now()
    const end = beginRequest(`${request.method === 'HEAD' ? 'GET' : request.method} ${matching[0]?.name}`)
    const response = render(await answer({ app, api }, trusted, matching, path, request), request)
    end()
    const ms = Math.round((performance.now() - started) * 10) / 10
    app.log.info('page', { method: request.method, path: matching[0]?.name, status: response.status, ms })
    return response
  }
}

/** The page for a browser that requests an unknown address. */
export function createNotFoundPage(app: App): (request: Request) => Response {
  const render = createRenderer(app, loadAssets())
  return (request) => render(errorPage(app, new AppError('NOT_FOUND', 'There is nothing at this address.')), request)
}

/** The page for a browser that requests something else than the catalogue from a machine that follows. */
export function createReadOnlyPage(app: App): (error: AppError, request: Request) => Response {
  const render = createRenderer(app, loadAssets())
  const title = 'The shop cannot take orders at the moment'
  return (error, request) =>
    render({ ...messagePage(error.status, title, [error.message]), headers: error.headers }, request)
}

/** The style of the pages. */
export function serveAsset(request: Request): Response | undefined {
  return loadAssets().find(rawPath(rawTarget(request)), request)
}

/** Whether the client prefers a page to JSON: browsers name HTML in Accept, programs do not. */
export function prefersHtml(request: Request): boolean {
  return isRead(request) && /\btext\/html\b/i.test(request.headers.get('accept') ?? '')
}

async function answer(
  { app, api }: Pick<PageCall, 'app' | 'api'>,
  trusted: TrustedProxies,
  matching: readonly PageRoute[],
  path: string,
  request: Request
): Promise<PageReply> {
  try {
    const route = routeFor(matching, request)
    if (route.method === 'POST') refuseCrossSite(app, request)
    const address = clientAddress(socketAddress(request), request.headers.get('x-forwarded-for'), trusted)
    const call: PageCall = {
      app,
      api,
      request,
      now: app.clock.now(),
      addressKey: addressKey(address),
      param: route.path.exec(path)?.[1] ?? ''
    }
    return await route.handle(call)
  } catch (error) {
    if (error instanceof AppError && error.status !== 500) return errorPage(app, error)
    const unavailable = storageUnavailable(error)
    clientLog(app.log).error('a page failed', { path: matching[0]?.name, error: describeError(error) })
    return errorPage(app, unavailable ?? new AppError('INTERNAL_SERVER_ERROR', 'Something went wrong on our side.'))
  }
}

function routeFor(matching: readonly PageRoute[], request: Request): PageRoute {
  const wanted = isRead(request) ? 'GET' : request.method
  const route = matching.find((candidate) => candidate.method === wanted)
  if (route !== undefined) return route
  const allowed = matching.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
  throw new AppError('METHOD_NOT_ALLOWED', 'This page does not take that method.', {}, { headers: { Allow: allowed } })
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD'
}
