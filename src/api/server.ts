import { H3 } from 'h3'
import type { App } from '../app.ts'
import { andThen, orElse } from '../platform/eventually.ts'
import type { Eventually } from '../platform/eventually.ts'
import { methodNotAllowed, notFound, pathTable } from '../platform/http/addresses.ts'
import type { Place } from '../platform/http/addresses.ts'
import { readBody, requireJson } from '../platform/http/body.ts'
import { parseTrustedProxies } from '../platform/http/client-address.ts'
import { requestIds } from '../platform/http/envelope.ts'
import { finishedRequests } from '../platform/http/finished-requests.ts'
import type { FinishedRequest } from '../platform/http/finished-requests.ts'
import { rawPath, rawTarget } from '../platform/http/node-request.ts'
import { beginRequest } from '../platform/http/requests-in-progress.ts'
import { identify, identifyAgain, refuseCrossSite, requireNonce, requireSession } from './identity.ts'
import type { Arrival } from './identity.ts'
import { parseInput, parseParams } from './input.ts'
import { toFailure, toResponse } from './reply.ts'
import { defaultBodyLimitBytes } from './route.ts'
import type { Call, Method, Route } from './route.ts'
import { routes } from './routes.ts'

/** The routes of one path by method. */
type Methods = ReadonlyMap<string, Route>

/** Answers every request under api_root. A path that is not in the route table is a 404. */
export function createApi(app: App): (request: Request) => Eventually<Response> {
  const addresses = addressesUnder(app.config.apiPrefix)
  const trusted = parseTrustedProxies(app.config.trustedProxies)

  function answer(place: Place<Methods> | undefined, request: Request): Eventually<Response> {
    const started = performance.now()
    const ids = requestIds(request.headers.get('x-correlation-id'))
    const arrival: Arrival = { app, trusted, request, ids, params: place?.params ?? {}, now: app.clock.now() }
    let route: Route | undefined
    let end: (() => void) | undefined
    const passed = orElse(
      () => {
        route = findRoute(place?.value, request.method)
        end = beginRequest(`${route.method} ${route.path}`)
        return pass(route, arrival)
      },
      (error) => toFailure(app, route, error, arrival)
    )
    return andThen(passed, (response) => {
      end?.()
      const finished: FinishedRequest = {
        method: request.method,
        path: route?.path ?? 'none',
        status: response.status,
        ms: Math.round((performance.now() - started) * 10) / 10
      }
      finishedRequests.publish(finished)
      app.log.info('request', { ...finished, requestId: ids.requestId, correlationId: ids.correlationId })
      return response
    })
  }

  const h3 = new H3()
  for (const [path, value] of addresses) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1')
    h3.all(pattern, ({ req, context }) => answer({ value, params: context.params ?? {} }, req))
  }
  const find = pathTable(addresses)
  return (request) => {
    // The router would accept `//health` and `/%68ealth`, so the table is matched with the path as it was sent.
    return find(rawPath(rawTarget(request))) === undefined ? answer(undefined, request) : h3.fetch(request)
  }
}

/** The stages of a request, in their order (docs/contract.md A3). */
function pass(route: Route, arrival: Arrival): Eventually<Response> {
  const { request } = arrival
  if (route.method !== 'GET' && route.crossSite !== 'allowed') refuseCrossSite(arrival.app, request)
  const caller = identify(route, arrival)
  requireNonce(route, caller)
  if (route.session === 'required') requireSession(caller)
  route.gate?.(caller)
  return andThen(readBody(request, route.bodyLimitBytes ?? defaultBodyLimitBytes), (raw) => {
    if (route.body !== undefined) requireJson(raw, request.headers.get('content-type'))
    const call = raw.length === 0 ? caller : identifyAgain(route, caller)
    if (route.around === undefined) return handle(route, call, raw)
    return route.around(call, raw, async (settled) =>
      orElse(
        () => handle(route, settled, raw),
        (error) => toFailure(arrival.app, route, error, arrival)
      )
    )
  })
}

function handle(route: Route, call: Call, raw: Uint8Array): Eventually<Response> {
  const params = parseParams(route, call.params)
  const input = { ...parseInput(route, call.request, raw), params, raw }
  // The route's own schemas produced the input; the type cannot express that for all routes together.
  return andThen(route.handler(call, input), (reply) => toResponse(route, reply, call.ids, call.now))
}

function addressesUnder(apiPrefix: string): ReadonlyMap<string, Methods> {
  const addresses = new Map<string, Map<Method, Route>>()
  for (const route of routes) {
    const path = `${apiPrefix}${route.path}`
    const methods = addresses.get(path) ?? new Map<Method, Route>()
    addresses.set(path, methods.set(route.method, route))
  }
  return addresses
}

/** The route for a method. @throws AppError NOT_FOUND, METHOD_NOT_ALLOWED */
function findRoute(methods: Methods | undefined, method: string): Route {
  if (methods === undefined) throw notFound()
  const route = methods.get(method === 'HEAD' ? 'GET' : method)
  if (route === undefined) throw methodNotAllowed(methods.keys())
  return route
}
