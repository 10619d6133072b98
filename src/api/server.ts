import { H3 } from 'h3'
import type { App } from '../app.ts'
import { AppError, validationFailed } from '../errors.ts'
import type { FieldErrors } from '../errors.ts'
import { messageFor, toFieldErrors } from '../platform/http/zod-errors.ts'
import { parseTrustedProxies } from '../platform/http/client-address.ts'
import { parseJsonBody, readBody, requireJson } from '../platform/http/body.ts'
import { failure, metaOf, requestIds, success } from '../platform/http/envelope.ts'
import type { RequestIds } from '../platform/http/envelope.ts'
import { rawPath, rawTarget } from '../platform/http/node-request.ts'
import { parseQuery } from '../platform/http/query.ts'
import { describeError } from '../platform/log.ts'
import { identify, refuseCrossSite, requireAnonymousNonce, requireSession } from './identity.ts'
import type { Call, Method, Reply, Route } from './route.ts'
import { routes } from './routes.ts'

const defaultBodyLimitBytes = 64 * 1024

/** Answers every request under api_root; what is not in the route table does not exist. */
export function createApi(app: App): (request: Request) => Promise<Response> {
  const byPath = new Map<string, Map<Method, Route>>()
  for (const entry of routes) {
    const path = `${app.config.apiPrefix}${entry.path}`
    const methods = byPath.get(path) ?? new Map<Method, Route>()
    byPath.set(path, methods.set(entry.method, entry))
  }
  const trusted = parseTrustedProxies(app.config.trustedProxies)
  const h3 = new H3()
  for (const [path, methods] of byPath) h3.all(path, (event) => answer(app, trusted, methods, event.req))
  return async (request) => {
    // The router would take `//health` or `/%68ealth` for the same place; the table is matched on what was sent.
    if (!byPath.has(rawPath(rawTarget(request)))) return refuseUnknown(app, request)
    return h3.fetch(request)
  }
}

/** The stages of a request, in their order. */
async function answer(
  app: App,
  trusted: ReturnType<typeof parseTrustedProxies>,
  methods: Map<Method, Route>,
  request: Request
): Promise<Response> {
  const started = performance.now()
  const ids = requestIds(request.headers.get('x-correlation-id'))
  const now = app.clock.now()
  let found: Route | undefined
  let response: Response
  try {
    found = findRoute(methods, request.method)
    response = await runStages(app, trusted, found, request, ids, now)
  } catch (error) {
    response = toFailure(app, found, error, ids, now)
  }
  app.log.info('request', {
    method: request.method,
    path: found?.path ?? 'unmatched',
    status: response.status,
    ms: Math.round((performance.now() - started) * 10) / 10,
    requestId: ids.requestId,
    correlationId: ids.correlationId
  })
  return response
}

async function runStages(
  app: App,
  trusted: ReturnType<typeof parseTrustedProxies>,
  route: Route,
  request: Request,
  ids: RequestIds,
  now: number
): Promise<Response> {
  if (route.method !== 'GET' && route.crossSite !== 'allowed') refuseCrossSite(app, request)
  const call: Call = identify(app, trusted, route, request, ids, now)
  if (route.nonce === 'anonymous') requireAnonymousNonce(call)
  if (route.session === 'required') requireSession(call)
  route.gate?.(call)
  const raw = await readBody(request, route.bodyLimitBytes ?? defaultBodyLimitBytes)
  if (route.body !== undefined) requireJson(raw, request.headers.get('content-type'))
  const settle = async (settled: Call): Promise<Response> => {
    try {
      const input = parseInput(route, request, raw)
      return toResponse(route, await route.handler(settled, { ...input, raw } as never), ids, now)
    } catch (error) {
      return toFailure(app, route, error, ids, now)
    }
  }
  return route.around === undefined ? settle(call) : route.around(call, raw, settle)
}

function findRoute(methods: Map<Method, Route>, method: string): Route {
  const wanted = method === 'HEAD' ? 'GET' : method
  for (const [known, entry] of methods) if (known === wanted) return entry
  const allowed = [...methods.keys()].flatMap((known) => (known === 'GET' ? ['GET', 'HEAD'] : [known]))
  throw new AppError(
    'METHOD_NOT_ALLOWED',
    'This address does not take that method.',
    {},
    { headers: { Allow: allowed.join(', ') } }
  )
}

/** Query and body are judged together, so that one answer names everything that is wrong. */
function parseInput(route: Route, request: Request, raw: Uint8Array): { query: unknown; body: unknown } {
  try {
    const query = parseQuery(rawTarget(request))
    const body = route.body === undefined ? undefined : parseJsonBody(raw)
    const errors: FieldErrors = {}
    const parsedQuery = parseQueryFields(route, query, errors)
    const parsedBody = route.body?.safeParse(body, { error: messageFor })
    if (parsedBody?.success === false) Object.assign(errors, toFieldErrors(parsedBody.error))
    if (Object.keys(errors).length > 0) throw validationFailed(errors)
    return { query: parsedQuery, body: parsedBody?.data }
  } catch (error) {
    throw withStatus(error, route.invalid)
  }
}

function parseQueryFields(route: Route, query: Map<string, string>, errors: FieldErrors): unknown {
  if (route.unknownQuery === 'refused') {
    for (const name of query.keys()) if (!route.proxy?.query.includes(name)) errors[name] = ['Is not a parameter here.']
  }
  if (route.query === undefined) return undefined
  const parsed = route.query.safeParse(Object.fromEntries(query), { error: messageFor })
  if (!parsed.success) Object.assign(errors, toFieldErrors(parsed.error))
  return parsed.data
}

/** VALIDATION_FAILED has the status that interface.md gives the endpoint. */
function withStatus(error: unknown, status: number): unknown {
  if (!(error instanceof AppError) || error.code !== 'VALIDATION_FAILED' || error.status === status) return error
  return new AppError(error.code, error.message, error.details, { status, headers: error.headers })
}

function toResponse(route: Route, reply: Reply | Response, ids: RequestIds, now: number): Response {
  if (reply instanceof Response) return reply
  const headers = [...(reply.headers ?? []), ...(reply.cookies ?? []).map((cookie) => ['set-cookie', cookie] as const)]
  return success(reply.data, ids, now, {
    status: reply.status ?? 200,
    meta: metaFor(reply, ids, now),
    headers,
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
  const known =
    error instanceof AppError
      ? withStatus(error, error.code === 'VALIDATION_FAILED' ? (route?.invalid ?? 422) : error.status)
      : undefined
  if (known instanceof AppError && known.code !== 'INTERNAL_SERVER_ERROR')
    return failure(known, ids, now, { noStore: true })
  app.log.error('a request failed', {
    requestId: ids.requestId,
    path: route?.path ?? null,
    error: describeError(error)
  })
  const code = route?.unforeseen ?? 'INTERNAL_SERVER_ERROR'
  return failure(new AppError(code, 'Something went wrong on our side.'), ids, now, { noStore: true })
}

function refuseUnknown(app: App, request: Request): Response {
  const ids = requestIds(request.headers.get('x-correlation-id'))
  const now = app.clock.now()
  return failure(new AppError('NOT_FOUND', 'There is nothing at this address.'), ids, now, { noStore: true })
}
