import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { addressKey, clientAddress } from '../platform/http/client-address.ts'
import type { TrustedProxies } from '../platform/http/client-address.ts'
import { isCrossSite } from '../platform/http/cross-site.ts'
import { checkNonceHeader, csrfFailed, sentNonce } from '../platform/http/csrf.ts'
import type { RequestIds } from '../platform/http/envelope.ts'
import { headerValues, socketAddress } from '../platform/http/node-request.ts'
import { checkNonce } from '../shop/accounts/nonce.ts'
import { findSession } from '../shop/accounts/sessions.ts'
import type { ShopContext } from '../shop/context.ts'
import type { Call, Identity, Route, UserCall } from './route.ts'
import { sessionToken } from '../shop/accounts/session-cookie.ts'

/** A request as it came in, before anything is known of it. */
export type Arrival = {
  readonly app: App
  readonly trusted: TrustedProxies
  readonly request: Request
  readonly ids: RequestIds
  /** The values that the path gives the parameters of its template, as sent. */
  readonly params: Readonly<Record<string, string>>
  /** Taken once; everything that this request decides happens at this time. */
  readonly now: number
}

/** Who calls, and from where. */
export function identify(route: Route, { app, trusted, request, ids, params, now }: Arrival): Call {
  const address = clientAddress(socketAddress(request), request.headers.get('x-forwarded-for'), trusted)
  return {
    shop: app,
    request,
    ids,
    params,
    now,
    addressKey: addressKey(address),
    identity: route.session === 'none' ? null : findIdentity(app, request, now),
    nonce: request.headers.get('x-nonce')
  }
}

/** The live session behind the request's cookie; a dead one's cookie counts as none. */
export function findIdentity(shop: ShopContext, request: Request, now: number): Identity | null {
  const token = sessionToken(shop, request.headers.get('cookie'))
  return token === null ? null : (findSession(shop.db, token, now) ?? null)
}

/**
 * The caller as he stands once his body is in: he may take half a minute to send it, and an account that is shut or a
 * password that is changed meanwhile must count.
 */
export function identifyAgain(route: Route, call: Call): Call {
  if (call.identity === null) return call
  const identified = { ...call, identity: findIdentity(call.shop, call.request, call.now) }
  if (route.session === 'required') requireSession(identified)
  return identified
}

/** @throws NOT_AUTHENTICATED */
export function requireSession(call: Call): asserts call is UserCall {
  if (call.identity === null) throw new AppError('NOT_AUTHENTICATED', 'Please log in first.')
}

const nobody = { sessionTokenHash: null, startNonceHash: null }

/**
 * Checks the nonce where the service's own policy asks for it, and where a first-party proxy leaves it to the service.
 * Good is one issued to the caller's session, or the one that came with the request which started it; one issued to
 * nobody is good for whoever has no session, and where sessions start (register, login) whatever cookie comes along.
 *
 * @throws CSRF_FAILED
 */
export function requireNonce(route: Route, call: Call): void {
  const { request, shop, now } = call
  if (route.nonce !== 'always' && !(route.proxy?.nonce === true && request.headers.has(checkNonceHeader))) return
  const nonce = sentNonce(headerValues(request, 'x-nonce'))
  const session = (route.session === 'none' ? findIdentity(shop, request, now) : call.identity)?.session
  const own =
    session === undefined ? nobody : { sessionTokenHash: session.tokenHash, startNonceHash: session.startNonceHash }
  if (checkNonce(shop.keys, nonce, own, now)) return
  if (route.startsSession === true && checkNonce(shop.keys, nonce, nobody, now)) return
  throw csrfFailed('invalid_nonce', 'The nonce is not valid (any more): fetch a new one and try again.')
}

/** A request that changes something and says that it comes from another site is refused. */
export function refuseCrossSite(app: App, request: Request): void {
  const refused = isCrossSite({
    method: request.method,
    secFetchSite: request.headers.get('sec-fetch-site'),
    origin: request.headers.get('origin'),
    host: request.headers.get('host'),
    publicUrl: app.publicUrl(),
    origins: app.config.origins,
    development: app.config.env === 'development'
  })
  if (refused) throw csrfFailed('cross_site', 'This request came from another site.')
}
