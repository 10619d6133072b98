import type { H3, H3Event } from 'h3'
import type { App } from '../app.ts'
import { readBody, requireJson, parseJsonBody } from '../platform/http/body.ts'
import { parseTrustedProxies } from '../platform/http/client-address.ts'
import { serveAt, toPattern } from '../platform/http/routing.ts'
import type { Methods } from '../platform/http/routing.ts'
import { identify, identifyAgain, refuseCrossSite, requireNonce, requireSession } from './identity.ts'
import type { Arrival } from './identity.ts'
import { toFailure, toResponse } from './reply.ts'
import { defaultBodyLimitBytes } from './route.ts'
import type { Call, Route } from './route.ts'
import { routes } from './routes.ts'
import { validationFailed } from '../errors.ts'
import type { FieldErrors } from '../errors.ts'
import { notFound } from '../platform/http/answers.ts'
import { rawTarget } from '../platform/http/request.ts'
import { parseQuery, fieldPath, messageFor, toFieldErrors } from '../platform/http/validation.ts'

/** Registers the table of routes under api_root. */
export function serveApi(h3: H3, app: App): void {
  const trusted = parseTrustedProxies(app.config.trustedProxies)
  const answer = async (route: Route, { req: request, context }: H3Event): Promise<Response> => {
    const { ids, params = {} } = context
    const arrival: Arrival = { app, trusted, request, ids, params, now: app.clock.now() }
    try {
      return await pass(route, arrival)
    } catch (error) {
      return toFailure(app, route, error, arrival)
    }
  }
  for (const [path, onPath] of Map.groupBy(routes, (route) => route.path)) {
    const handlers: Methods = Object.fromEntries(
      onPath.map((route) => [route.method, (event: H3Event) => answer(route, event)])
    )
    serveAt(h3, `${app.config.apiPrefix}${toPattern(path)}`, handlers, { meta: { record: { kind: 'api', path } } })
  }
}

/** The stages of a request, in their order (docs/contract.md A3). */
async function pass(route: Route, arrival: Arrival): Promise<Response> {
  const { app, request } = arrival
  if (route.method !== 'GET' && route.crossSite !== 'allowed') refuseCrossSite(app, request)
  const caller = identify(route, arrival)
  requireNonce(route, caller)
  if (route.session === 'required') requireSession(caller)
  route.gate?.(caller)
  const raw = await readBody(request, route.bodyLimitBytes ?? defaultBodyLimitBytes)
  if (route.body !== undefined) requireJson(raw, request.headers.get('content-type'))
  const call = raw.length === 0 ? caller : identifyAgain(route, caller)
  if (route.around === undefined) return handle(route, call, raw)
  return route.around(call, raw, (settled) =>
    handle(route, settled, raw).catch((error: unknown) => toFailure(app, route, error, arrival))
  )
}

async function handle(route: Route, call: Call, raw: Uint8Array): Promise<Response> {
  const params = parseParams(route, call.params)
  const input = { ...parseInput(route, call.request, raw), params, raw }
  // The route's own schemas produced the input; the type cannot express that for all routes together.
  return toResponse(route, await route.handler(call, input), call.ids, call.now)
}

/**
 * Parses query and body of a request by the schemas of its route. One error names all invalid fields of both.
 *
 * @throws AppError VALIDATION_FAILED
 */
export function parseInput(route: Route, request: Request, raw: Uint8Array): { query: unknown; body: unknown } {
  const sent = parseQuery(rawTarget(request))
  const query = route.query?.safeParse(Object.fromEntries(sent), { error: messageFor })
  const body = route.body?.safeParse(parseJsonBody(raw), { error: messageFor })
  const errors: FieldErrors = {
    ...refusedParameters(route, sent),
    ...(query?.error === undefined ? {} : toFieldErrors(query.error)),
    ...(body?.error === undefined ? {} : toFieldErrors(body.error))
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors)
  return { query: query?.data, body: body?.data }
}

/** Parses the path parameters by the route's schema. @throws AppError NOT_FOUND */
export function parseParams({ params }: Route, sent: Readonly<Record<string, string>>) {
  const parsed = params?.safeParse(sent)
  if (parsed?.success === false) throw notFound()
  return parsed?.data
}

/** Uses entries, because an assignment would lose a parameter named `__proto__`. */
function refusedParameters(route: Route, sent: ReadonlyMap<string, string>): FieldErrors {
  if (route.unknownQuery !== 'refused') return {}
  const unknown = [...sent.keys()].filter((name) => !route.proxy?.query.includes(name))
  return Object.fromEntries(unknown.map((name) => [fieldPath([name]), ['Is not a parameter here.']]))
}
