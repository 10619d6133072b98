import { channel } from 'node:diagnostics_channel'
import type { H3Event, Middleware } from 'h3'
import { Node, Yallist } from 'yallist'
import type { Logger } from '../log.ts'
import type { RequestIds } from './answers.ts'
import { rawPath, rawTarget } from './request.ts'

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
