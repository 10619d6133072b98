import { createDescription } from './api/openapi.ts'
import { AppError } from './errors.ts'
import type { App } from './app.ts'
import { andThen } from './platform/eventually.ts'
import type { Eventually } from './platform/eventually.ts'
import { failure, requestIds } from './platform/http/envelope.ts'
import { rawPath, rawTarget } from './platform/http/node-request.ts'
import { serveMedia } from './pages/media.ts'
import { createNotFoundPage, prefersHtml } from './pages/pages.ts'
import { mountProxy, mountedAt } from './proxy/mounted.ts'

export type Serve = (request: Request) => Eventually<Response | undefined>

/** The handlers by path, or by path prefix if it ends in a slash. The first match answers. */
export type Handlers = readonly (readonly [path: string, serve: Serve])[]

/**
 * What every server of a shop has: the API, the proxy, the pictures and the API description.
 *
 * @param dataDir the folder with the pictures
 */
export function publicHandlers(app: App, api: (request: Request) => Eventually<Response>, dataDir: string): Handlers {
  const description = createDescription(app)
  return [
    [`${app.config.apiPrefix}/`, api],
    [`${mountedAt}/`, mountProxy(app, api)],
    ['/media/', (request) => serveMedia(dataDir, request, app.clock.now())],
    ['/openapi.json', description],
    ['/docs', description]
  ]
}

/**
 * Answers each request by its handler, and with 404 if that has no answer.
 *
 * @param rest the handler of all other paths
 */
export function serveByPath(app: App, handlers: Handlers, rest: Serve): (request: Request) => Eventually<Response> {
  const notFound = notFoundAnswer(app)
  return (request) => {
    const path = rawPath(rawTarget(request))
    const [, serve = rest] =
      handlers.find(([prefix]) => (prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix)) ?? []
    return andThen(serve(request), (response) => response ?? notFound(request))
  }
}

/** A probe accepts only GET and HEAD. */
export function probe(answer: () => Response): Serve {
  return ({ method }) => {
    const isRead = method === 'GET' || method === 'HEAD'
    const response = isRead ? answer() : new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } })
    response.headers.set('x-content-type-options', 'nosniff')
    return response
  }
}

/**
 * Browsers that have reached the shop by https once never use http again (RFC 6797), if SHOPSTEAD_PUBLIC_URL is https. It
 * says nothing about subdomains, because the shop does not know which ones serve https.
 */
export function transportSecurity({ config }: Pick<App, 'config'>): string[] {
  return config.publicUrl?.startsWith('https:') ? ['strict-transport-security', 'max-age=31536000'] : []
}

/** The 404 page for a browser, the JSON envelope for other clients. */
function notFoundAnswer(app: App): (request: Request) => Response {
  const page = createNotFoundPage(app)
  return (request) => {
    if (prefersHtml(request)) return page(request)
    const ids = requestIds(request.headers.get('x-correlation-id'))
    const error = new AppError('NOT_FOUND', 'There is nothing at this address.')
    return failure(error, ids, app.clock.now(), { noStore: true })
  }
}
