import type { H3, H3Event } from 'h3'
import { z } from 'zod'
import type { App } from '../app.ts'
import { readBody, requireJson, parseJsonBody } from '../platform/http/body.ts'
import {
  parseTrustedProxies,
  addressKey,
  clientAddress,
  rawTarget,
  headerValues,
  socketAddress,
  forwardedHost
} from '../platform/http/client-address.ts'
import { serveAt, toPattern } from '../platform/http/routing.ts'
import type { Methods } from '../platform/http/routing.ts'
import { toFailure, toResponse } from './reply.ts'
import { defaultBodyLimitBytes } from './route.ts'
import type { Call, Route, Identity, UserCall } from './route.ts'
import { routes } from './routes.ts'
import { validationFailed, AppError } from '../errors.ts'
import type { FieldErrors } from '../errors.ts'
import { notFound } from '../platform/http/answers.ts'
import { parseQuery, fieldPath, messageFor, toFieldErrors } from '../platform/http/validation.ts'
import type { TrustedProxies } from '../platform/http/client-address.ts'
import { refuseOtherSite, checkNonceHeader, csrfFailed, sentNonce } from '../platform/http/cross-site.ts'
import type { RequestIds } from '../platform/http/answers.ts'
import { checkNonce } from '../shop/accounts/nonce.ts'
import { findSession, sessionToken } from '../shop/accounts/sessions.ts'
import type { ShopContext } from '../shop/context.ts'
import { browserLanguage, inLanguage } from '../shop/settings/language.ts'

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
  const { app, request, trusted } = arrival
  if (route.method !== 'GET' && route.crossSite !== 'allowed') refuseCrossSite(app, request, trusted)
  const caller = identify(route, arrival)
  requireNonce(route, caller)
  if (route.session === 'required') requireSession(caller)
  route.gate?.(caller)
  const raw = await readBody(request, route.bodyLimitBytes ?? defaultBodyLimitBytes)
  if (route.body !== undefined) requireJson(raw, request.headers)
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
  const known = route.query instanceof z.ZodObject ? route.query.shape : {}
  const mayRepeat = (name: string): boolean => route.mayRepeat?.test(name) === true || !Object.hasOwn(known, name)
  const sent = parseQuery(rawTarget(request), mayRepeat)
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

/** Names of parameters that ask for the data of another person. */
const scopeNames =
  /user|affiliate|account|customer|owner|partner|member|person|email|scope|admin|impersonat|ref|code|tenant|^(?:as|all|for|of|id|who)$|id$/i

/** Uses entries, because an assignment would lose a parameter named `__proto__`. */
function refusedParameters(route: Route, sent: ReadonlyMap<string, string>): FieldErrors {
  if (route.scope !== 'own') return {}
  const unknown = [...sent.keys()].filter((name) => !route.proxy?.query.includes(name) && scopeNames.test(name))
  return Object.fromEntries(unknown.map((name) => [fieldPath([name]), ['Is not a parameter here.']]))
}

/** A request before its client is identified. */
export type Arrival = {
  readonly app: App
  readonly trusted: TrustedProxies
  readonly request: Request
  readonly ids: RequestIds
  /** The path parameters, as sent. */
  readonly params: Readonly<Record<string, string>>
  /** The time of the request; all its decisions use it. */
  readonly now: number
}

/** Identifies the client by session and address. */
export function identify(route: Route, { app, trusted, request, ids, params, now }: Arrival): Call {
  const address = clientAddress(socketAddress(request), request.headers.get('x-forwarded-for'), trusted)
  return {
    shop: inLanguage(app, browserLanguage(app.db, request.headers.get('accept-language'))),
    request,
    ids,
    params,
    now,
    addressKey: addressKey(address),
    trusted,
    identity: route.session === 'none' ? null : findIdentity(app, request, now),
    nonce: request.headers.get('x-nonce'),
    cookies: request.headers.get('cookie')
  }
}

/** The valid session of the request's cookie; null without one. */
export function findIdentity(shop: ShopContext, request: Request, now: number): Identity | null {
  const token = sessionToken(shop, request.headers.get('cookie'))
  return token === null ? null : (findSession(shop.db, token, now) ?? null)
}

/**
 * Identifies the client again after the body has arrived. Sending it may take half a minute, and the account may be
 * deactivated or its password changed in that time.
 */
export function identifyAgain(route: Route, call: Call): Call {
  if (call.identity === null) return call
  const identified = { ...call, identity: findIdentity(call.shop, call.request, call.now) }
  if (route.session === 'required') requireSession(identified)
  return identified
}

/** @throws AppError NOT_AUTHENTICATED */
export function requireSession(call: Call): asserts call is UserCall {
  if (call.identity === null) throw new AppError('NOT_AUTHENTICATED', 'Please log in first.')
}

const anonymous = { sessionTokenHash: null, startNonceHash: null }

/**
 * Checks the nonce if the route or the first-party proxy requires one. Valid are a nonce issued to the client's session
 * and the nonce of the request that started the session. An anonymous nonce is valid without a session, and for routes
 * that start a session (register, login), whatever cookie the request has.
 *
 * @throws AppError CSRF_FAILED
 */
export function requireNonce(route: Route, call: Call): void {
  const { request, shop, now } = call
  if (route.nonce !== 'always' && !(route.proxy?.nonce === true && request.headers.has(checkNonceHeader))) return
  const nonce = sentNonce(headerValues(request, 'x-nonce'))
  const session = (route.session === 'none' ? findIdentity(shop, request, now) : call.identity)?.session
  const own =
    session === undefined ? anonymous : { sessionTokenHash: session.tokenHash, startNonceHash: session.startNonceHash }
  if (checkNonce(shop.keys, nonce, own, now)) return
  if (route.startsSession === true && checkNonce(shop.keys, nonce, anonymous, now)) return
  throw csrfFailed('invalid_nonce', 'The nonce is invalid or has expired. Fetch a new one and try again.')
}

/** Refuses a request that changes something and comes from another site. @throws AppError CSRF_FAILED */
export function refuseCrossSite(app: App, request: Request, trusted: TrustedProxies): void {
  refuseOtherSite({
    method: request.method,
    secFetchSite: request.headers.get('sec-fetch-site'),
    origin: request.headers.get('origin'),
    hosts: [request.headers.get('host'), forwardedHost(request, trusted)],
    publicUrl: app.publicUrl(),
    origins: app.config.origins,
    development: app.config.env === 'development'
  })
}
