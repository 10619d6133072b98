import { H3 } from 'h3'
import type { App } from '../app.ts'
import { AppError, validationFailed } from '../errors.ts'
import type { FieldErrors } from '../errors.ts'
import { methodNotAllowed, notFound } from '../platform/http/addresses.ts'
import { parseJsonBody, readBody, requireJson } from '../platform/http/body.ts'
import { parseTrustedProxies } from '../platform/http/client-address.ts'
import { failure, metaOf, requestIds, success } from '../platform/http/envelope.ts'
import type { RequestIds } from '../platform/http/envelope.ts'
import { rawPath, rawTarget } from '../platform/http/node-request.ts'
import { parseQuery } from '../platform/http/query.ts'
import { messageFor, toFieldErrors } from '../platform/http/zod-errors.ts'
import { describeError } from '../platform/log.ts'
import { identify, refuseCrossSite, requireNonce, requireSession } from './identity.ts'
import { defaultBodyLimitBytes } from './route.ts'
import type { Call, Method, Reply, Route } from './route.ts'
import { routes } from './routes.ts'

type Methods = ReadonlyMap<Method, Route>

/** Answers every request under api_root; what is not in the route table does not exist. */
export function createApi(app: App): (request: Request) => Promise<Response> {
  const byPath = tableOf(app.config.apiPrefix)
  const trusted = parseTrustedProxies(app.config.trustedProxies)

  /** The stages of a request, in their order. */
  async function pass(route: Route, request: Request, ids: RequestIds, now: number): Promise<Response> {
    if (route.method !== 'GET' && route.crossSite !== 'allowed') refuseCrossSite(app, request)
    const call = identify(app, trusted, route, request, ids, now)
    requireNonce(route, call)
    if (route.session === 'required') requireSession(call)
    route.gate?.(call)
    const raw = await readBody(request, route.bodyLimitBytes ?? defaultBodyLimitBytes)
    if (route.body !== undefined) requireJson(raw, request.headers.get('content-type'))
    const settle = async (settled: Call): Promise<Response> => {
      try {
        const input = { ...parseInput(route, request, raw), raw }
        return toResponse(route, await route.handler(settled, input as never), ids, now)
      } catch (error) {
        return toFailure(app, route, error, ids, now)
      }
    }
    return route.around === undefined ? settle(call) : route.around(call, raw, settle)
  }

  async function answer(methods: Methods | undefined, request: Request): Promise<Response> {
    const started = performance.now()
    const ids = requestIds(request.headers.get('x-correlation-id'))
    const now = app.clock.now()
    let route: Route | undefined
    let response: Response
    try {
      route = findRoute(methods, request.method)
      response = await pass(route, request, ids, now)
    } catch (error) {
      response = toFailure(app, route, error, ids, now)
    }
    app.log.info('request', {
      method: request.method,
      path: route?.path ?? 'none',
      status: response.status,
      ms: Math.round((performance.now() - started) * 10) / 10,
      requestId: ids.requestId,
      correlationId: ids.correlationId
    })
    return response
  }

  const h3 = new H3()
  for (const [path, methods] of byPath) h3.all(path, (event) => answer(methods, event.req))
  return async (request) => {
    // The router would take `//health` or `/%68ealth` for the same place; the table is matched on what was sent.
    return byPath.has(rawPath(rawTarget(request))) ? h3.fetch(request) : answer(undefined, request)
  }
}

function tableOf(apiPrefix: string): ReadonlyMap<string, Methods> {
  const byPath = new Map<string, Map<Method, Route>>()
  for (const route of routes) {
    const path = `${apiPrefix}${route.path}`
    const methods = byPath.get(path) ?? new Map<Method, Route>()
    byPath.set(path, methods.set(route.method, route))
  }
  return byPath
}

function findRoute(methods: Methods | undefined, method: string): Route {
  if (methods === undefined) throw notFound()
  const wanted = method === 'HEAD' ? 'GET' : method
  for (const [known, route] of methods) if (known === wanted) return route
  throw methodNotAllowed(methods.keys())
}

/** Query and body are judged together, so that one answer names everything that is wrong. */
function parseInput(route: Route, request: Request, raw: Uint8Array): { query: unknown; body: unknown } {
  const query = parseQuery(rawTarget(request))
  const body = route.body === undefined ? undefined : parseJsonBody(raw)
  const parsedQuery = route.query?.safeParse(Object.fromEntries(query), { error: messageFor })
  const parsedBody = route.body?.safeParse(body, { error: messageFor })
  const errors: FieldErrors = {
    ...refusedParameters(route, query),
    ...(parsedQuery?.success === false ? toFieldErrors(parsedQuery.error) : {}),
    ...(parsedBody?.success === false ? toFieldErrors(parsedBody.error) : {})
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors)
  return { query: parsedQuery?.data, body: parsedBody?.data }
}

/** By entries, since an assignment would lose a parameter that is called `__proto__`. */
function refusedParameters(route: Route, query: ReadonlyMap<string, string>): FieldErrors {
  if (route.unknownQuery !== 'refused') return {}
  const unknown = [...query.keys()].filter((name) => !route.proxy?.query.includes(name))
  return Object.fromEntries(unknown.map((name) => [name, ['Is not a parameter here.']]))
}

function toResponse(route: Route, reply: Reply | Response, ids: RequestIds, now: number): Response {
  if (reply instanceof Response) return reply
  const cookies = (reply.cookies ?? []).map((cookie) => ['set-cookie', cookie] as const)
  return success(reply.data, ids, now, {
    status: reply.status ?? 200,
    meta: metaFor(reply, ids, now),
    headers: [...(reply.headers ?? []), ...cookies],
    noStore: route.cache !== 'public'
  })
}

function metaFor(reply: Reply, ids: RequestIds, now: number): object | null {
  if (reply.meta === null) return null
  if (reply.meta === undefined) return metaOf(ids, now)
  return 'replace' in reply.meta ? reply.meta.replace : { ...metaOf(ids, now), ...reply.meta.extend }
}

/** The one place where an error becomes an answer; what nobody foresaw says nothing of its cause outside the log. */
function toFailure(app: App, route: Route | undefined, error: unknown, ids: RequestIds, now: number): Response {
  const known = error instanceof AppError ? error : unforeseen(route)
  if (known.status === 500) {
    app.log.error('a request failed', {
      requestId: ids.requestId,
      path: route?.path ?? 'none',
      error: describeError(error)
    })
  }
  return failure(withStatusOf(route, known), ids, now, { noStore: true })
}

function unforeseen(route: Route | undefined): AppError {
  return new AppError(route?.unforeseen ?? 'INTERNAL_SERVER_ERROR', 'Something went wrong on our side.')
}

/** VALIDATION_FAILED has the status that interface.md gives the endpoint. */
function withStatusOf(route: Route | undefined, error: AppError): AppError {
  if (route === undefined || error.code !== 'VALIDATION_FAILED' || error.status === route.invalid) return error
  return new AppError(error.code, error.message, error.details, { status: route.invalid, headers: error.headers })
}
