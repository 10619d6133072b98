import { channel } from 'node:diagnostics_channel'
import { H3 } from 'h3'
import type { EventHandler, H3Event, H3RouteMeta, Middleware } from 'h3'
import { Node, Yallist } from 'yallist'
import type { AppError } from '../../errors.ts'
import type { Logger } from '../log.ts'
import { methodNotAllowed, notFound, requestIds } from './answers.ts'
import type { RequestIds } from './answers.ts'
import { rawPath, rawTarget, segment } from './client-address.ts'

/** Turns an error that a handler throws into a response. */
export type Refuse = (error: unknown, event: H3Event) => Response | Promise<Response>

/**
 * An H3 app with the middleware of every request, in order: ids, log and metrics, errors, and the path as sent. What no
 * route answers is NOT_FOUND.
 */
export function createRouting({ log, apiPrefix, refuse }: { log: Logger; apiPrefix: string; refuse: Refuse }): H3 {
  const h3 = new H3({ silent: true, allowMalformedURL: true })
  h3.use(identify)
  h3.use(recordRequests(log, apiPrefix))
  h3.use((event, next) => answerErrors(event, next, refuse))
  h3.use(requireExactPath)
  h3.all('/**', () => {
    throw notFound()
  })
  return h3
}

const identify: Middleware = ({ req, context }, next) => {
  context.ids = requestIds(req.headers.get('x-correlation-id'))
  return next()
}

async function answerErrors(event: H3Event, next: () => unknown, refuse: Refuse): Promise<unknown> {
  try {
    return await next()
  } catch (error) {
    return refuse(error, event)
  }
}

/** Every address has one spelling: h3 also finds a route at `//health`, `/%68ealth`, `/x/../health` and `/health/`. */
const requireExactPath: Middleware = ({ req, url, context }, next) => {
  const path = rawPath(rawTarget(req))
  if (path === url.pathname && (path === '/' || !path.endsWith('/'))) return next()
  delete context.matchedRoute
  throw notFound()
}

/** The h3 pattern of a path with parameters such as `{id}`. */
export function toPattern(template: string): string {
  return template.replaceAll(/\{(\w+)\}/g, `:$1(${segment})`)
}

const methods = ['GET', 'POST', 'PATCH'] as const

/** Handlers by method. GET also answers HEAD. */
export type Methods = Readonly<Partial<Record<(typeof methods)[number], EventHandler>>>

/**
 * Registers what answers a path. Other methods are METHOD_NOT_ALLOWED with an Allow header.
 *
 * @param pattern an h3 pattern, such as `/orders/:id(\\d+)`
 * @param options.refused answers other methods in place of the error; these answers count as the route's own
 */
export function serveAt(
  h3: H3,
  pattern: string,
  handlers: Methods,
  { meta = {}, refused }: { meta?: H3RouteMeta; refused?: (error: AppError, event: H3Event) => Response } = {}
): void {
  for (const method of methods) {
    const handler = handlers[method]
    if (handler === undefined) continue
    h3.on(method, pattern, handler, { meta })
    if (method === 'GET') h3.on('HEAD', pattern, handler, { meta })
  }
  const error = methodNotAllowed(methods.filter((method) => handlers[method] !== undefined))
  const refuse = (event: H3Event): Response => {
    if (refused === undefined) throw error
    return refused(error, event)
  }
  h3.all(pattern, refuse, { meta: refused === undefined ? {} : meta })
}

/** How the requests of a route appear in the log and in the metrics. */
type RouteRecord = {
  /** Only requests to the API are in the metrics. */
  readonly kind: 'api' | 'page'
  /** The path with names in place of its parameters, so that logs contain no tokens and metrics have few labels. */
  readonly path: string
}

declare module 'h3' {
  interface H3EventContext {
    /** Set by the first middleware. */
    ids: RequestIds
  }
  interface H3RouteMeta {
    readonly record?: RouteRecord
  }
}

/** An answered request to the API, by the path of its route. */
export type FinishedRequest = { method: string; path: string; status: number; ms: number }

/** Publishes every answered request to the API; costs nothing without a subscriber. */
export const finishedRequests = channel('shopstead:request')

/** Routes such as `GET /me`. */
const inProgress = new Yallist<string>()
/** When the last request of each route finished, by the monotonic clock. */
const finishedAt = new Map<string, number>()

/** The routes of the requests that are in progress or have finished since a time of `performance.now()`. */
export function routesSince(time: number): string[] {
  const finished = [...finishedAt].filter(([, at]) => at >= time).map(([name]) => name)
  return [...new Set([...finished, ...inProgress])]
}

/**
 * Logs every request to the API and to a page, publishes those to the API for the metrics, and tracks which routes are in
 * progress. Requests without a route count only under the API's prefix.
 */
export function recordRequests(log: Logger, apiPrefix: string): Middleware {
  return async (event, next) => {
    const startedAt = performance.now()
    const end = track(event)
    const response = await next()
    end()
    const record = event.context.matchedRoute?.meta?.record ?? unknownAddress(event, apiPrefix)
    if (record === undefined || !(response instanceof Response)) return response
    const { requestId, correlationId } = event.context.ids
    const ms = Math.round((performance.now() - startedAt) * 10) / 10
    const finished: FinishedRequest = { method: event.req.method, path: record.path, status: response.status, ms }
    if (record.kind === 'page') log.info('page', finished)
    else {
      finishedRequests.publish(finished)
      log.info('request', { ...finished, requestId, correlationId })
    }
    return response
  }
}

function unknownAddress({ req }: H3Event, apiPrefix: string): RouteRecord | undefined {
  return rawPath(rawTarget(req)).startsWith(`${apiPrefix}/`) ? { kind: 'api', path: 'none' } : undefined
}

/** Tracks a request of a route until the returned function is called. */
function track({ req, context }: H3Event): () => void {
  const record = context.matchedRoute?.meta?.record
  if (record === undefined) return () => undefined
  const name = `${req.method === 'HEAD' ? 'GET' : req.method} ${record.path}`
  const place = new Node(name)
  inProgress.pushNode(place)
  return () => {
    inProgress.removeNode(place)
    finishedAt.set(name, performance.now())
  }
}
