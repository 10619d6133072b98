import { H3 } from 'h3'
import type { App } from '../app.ts'
import { methodNotAllowed, notFound } from '../platform/http/addresses.ts'
import { readBody, requireJson } from '../platform/http/body.ts'
import { parseTrustedProxies } from '../platform/http/client-address.ts'
import { requestIds } from '../platform/http/envelope.ts'
import { finishedRequests } from '../platform/http/finished-requests.ts'
import type { FinishedRequest } from '../platform/http/finished-requests.ts'
import { rawPath, rawTarget } from '../platform/http/node-request.ts'
import { identify, identifyAgain, refuseCrossSite, requireNonce, requireSession } from './identity.ts'
import type { Arrival } from './identity.ts'
import { parseInput } from './input.ts'
import { toFailure, toResponse } from './reply.ts'
import { defaultBodyLimitBytes } from './route.ts'
import type { Call, Method, Route } from './route.ts'
import { routes } from './routes.ts'

/** What one address takes. */
type Methods = ReadonlyMap<string, Route>

/** Answers every request under api_root; what is not in the route table does not exist. */
export function createApi(app: App): (request: Request) => Promise<Response> {
  const addresses = addressesUnder(app.config.apiPrefix)
  const trusted = parseTrustedProxies(app.config.trustedProxies)

  async function answer(methods: Methods | undefined, request: Request): Promise<Response> {
    const started = performance.now()
    const ids = requestIds(request.headers.get('x-correlation-id'))
    const arrival: Arrival = { app, trusted, request, ids, now: app.clock.now() }
    let route: Route | undefined
    let response: Response
    try {
      route = findRoute(methods, request.method)
      response = await pass(route, arrival)
    } catch (error) {
      response = toFailure(app, route, error, arrival)
    }
    const finished: FinishedRequest = {
      method: request.method,
      path: route?.path ?? 'none',
      status: response.status,
      ms: Math.round((performance.now() - started) * 10) / 10
    }
    finishedRequests.publish(finished)
    app.log.info('request', { ...finished, requestId: ids.requestId, correlationId: ids.correlationId })
    return response
  }

  const h3 = new H3()
  for (const [path, methods] of addresses) h3.all(path, (event) => answer(methods, event.req))
  return async (request) => {
    // The router would take `//health` or `/%68ealth` for the same place; the table is matched on what was sent.
    return addresses.has(rawPath(rawTarget(request))) ? h3.fetch(request) : answer(undefined, request)
  }
}

/** The stages of a request, in their order (CONTRACT A3). */
async function pass(route: Route, arrival: Arrival): Promise<Response> {
  const { request } = arrival
  if (route.method !== 'GET' && route.crossSite !== 'allowed') refuseCrossSite(arrival.app, request)
  const caller = identify(route, arrival)
  requireNonce(route, caller)
  if (route.session === 'required') requireSession(caller)
  route.gate?.(caller)
  const raw = await readBody(request, route.bodyLimitBytes ?? defaultBodyLimitBytes)
  if (route.body !== undefined) requireJson(raw, request.headers.get('content-type'))
  const call = raw.length === 0 ? caller : identifyAgain(route, caller)
  if (route.around === undefined) return handle(route, call, raw)
  return route.around(call, raw, (settled) =>
    handle(route, settled, raw).catch((error: unknown) => toFailure(arrival.app, route, error, arrival))
  )
}

async function handle(route: Route, call: Call, raw: Uint8Array): Promise<Response> {
  const input = { ...parseInput(route, call.request, raw), raw }
  // The route's own schemas made it, which its type cannot say for all routes at once.
  const reply = await route.handler(call, input)
  return toResponse(route, reply, call.ids, call.now)
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

/** @throws NOT_FOUND, METHOD_NOT_ALLOWED */
function findRoute(methods: Methods | undefined, method: string): Route {
  if (methods === undefined) throw notFound()
  const route = methods.get(method === 'HEAD' ? 'GET' : method)
  if (route === undefined) throw methodNotAllowed(methods.keys())
  return route
}
