import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { addressKey, clientAddress } from '../platform/http/client-address.ts'
import type { TrustedProxies } from '../platform/http/client-address.ts'
import { refuseOtherSite, checkNonceHeader, csrfFailed, sentNonce } from '../platform/http/cross-site.ts'
import type { RequestIds } from '../platform/http/answers.ts'
import { headerValues, socketAddress } from '../platform/http/request.ts'
import { checkNonce } from '../shop/accounts/nonce.ts'
import { findSession } from '../shop/accounts/sessions.ts'
import type { ShopContext } from '../shop/context.ts'
import type { Call, Identity, Route, UserCall } from './route.ts'
import { sessionToken } from '../shop/accounts/session-cookie.ts'

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
    shop: app,
    request,
    ids,
    params,
    now,
    addressKey: addressKey(address),
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
export function refuseCrossSite(app: App, request: Request): void {
  refuseOtherSite({
    method: request.method,
    secFetchSite: request.headers.get('sec-fetch-site'),
    origin: request.headers.get('origin'),
    host: request.headers.get('host'),
    publicUrl: app.publicUrl(),
    origins: app.config.origins,
    development: app.config.env === 'development'
  })
}
