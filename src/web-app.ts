import type { H3, H3Event } from 'h3'
import { serveDescription } from './api/openapi.ts'
import { serveApi } from './api/server.ts'
import type { App } from './app.ts'
import { AppError } from './errors.ts'
import { failure } from './platform/http/answers.ts'
import { rawPath, rawTarget } from './platform/http/client-address.ts'
import { createRouting, serveAt } from './platform/http/routing.ts'
import { describeError, clientLog } from './platform/log.ts'
import { serveMedia } from './pages/files.ts'
import { createNotFoundPage, prefersHtml } from './pages/pages.ts'
import { mountProxy, mountedAt } from './proxy/mounted.ts'

/**
 * The H3 app with what every server of a shop answers: the API, the proxy, the pictures and the API description. A server
 * adds its own addresses to it.
 *
 * @param dataDir the folder with the pictures
 */
export function createWebApp(app: App, dataDir: string = app.config.dataDir): H3 {
  const h3 = createRouting({ log: app.log, apiPrefix: app.config.apiPrefix, refuse: refusals(app) })
  serveApi(h3, app)
  mountProxy(h3, app)
  serveMedia(h3, dataDir)
  serveDescription(h3, app)
  return h3
}

/** A 404 is a page for a browser; every other error outside the API and the pages is a JSON envelope. */
export function refusals(app: App): (error: unknown, event: H3Event) => Response {
  const page = createNotFoundPage(app)
  const programs = [`${app.config.apiPrefix}/`, `${mountedAt}/`]
  return (error, { req, context }) => {
    const known = error instanceof AppError ? error : new AppError('INTERNAL_SERVER_ERROR', 'Something went wrong.')
    if (error !== known) clientLog(app.log).error('a request failed', { error: describeError(error) })
    const path = rawPath(rawTarget(req))
    const isPage = known.code === 'NOT_FOUND' && !programs.some((root) => path.startsWith(root)) && prefersHtml(req)
    return isPage ? page(req) : failure(known, context.ids, app.clock.now(), { noStore: true })
  }
}

/** Registers a probe, which no cache keeps, and which has no body for a method that it does not accept. */
export function serveProbe(h3: H3, path: string, probe: () => Response): void {
  const answer = (response: Response): Response => {
    response.headers.set('x-content-type-options', 'nosniff')
    response.headers.set('cache-control', 'no-store')
    return response
  }
  const refused = (): Response => answer(new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } }))
  serveAt(h3, path, { GET: () => answer(probe()) }, { refused })
}

/**
 * Browsers that have reached the shop by https once never use http again (RFC 6797), if SHOPSTEAD_PUBLIC_URL is https. It
 * says nothing about subdomains, because the shop does not know which ones serve https.
 */
export function transportSecurity({ config }: Pick<App, 'config'>): [string, string][] {
  return config.publicUrl?.startsWith('https:') ? [['strict-transport-security', 'max-age=31536000']] : []
}
