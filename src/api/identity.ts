import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { addressKey, clientAddress } from '../platform/http/client-address.ts'
import type { TrustedProxies } from '../platform/http/client-address.ts'
import { isCrossSite } from '../platform/http/cross-site.ts'
import type { RequestIds } from '../platform/http/envelope.ts'
import { headerValues, socketAddress } from '../platform/http/node-request.ts'
import { checkNonce } from '../shop/accounts/nonce.ts'
import { findSession } from '../shop/accounts/sessions.ts'
import type { ShopContext } from '../shop/context.ts'
import type { Call, Identity, Route, UserCall } from './route.ts'
import { sessionToken } from './session-cookie.ts'

/** First stage: who calls, from where, and when. */
export function identify(
  app: App,
  trusted: TrustedProxies,
  route: Route,
  request: Request,
  ids: RequestIds,
  now: number
): Call {
  const address = clientAddress(socketAddress(request), request.headers.get('x-forwarded-for'), trusted)
  return {
    shop: app,
    request,
    ids,
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

export function requireSession(call: Call): asserts call is UserCall {
  if (call.identity === null) throw new AppError('NOT_AUTHENTICATED', 'Please log in first.')
}

/**
 * Asks for a good nonce in exactly one header: one issued to nobody, whatever cookie comes along, or the session's own.
 */
export function requireNonce(call: Call): void {
  const sent = headerValues(call.request, 'x-nonce')
  if (sent.length === 0 || sent[0] === '') throw csrfFailed('missing_nonce', 'The X-Nonce header is missing.')
  const [nonce] = sent
  if (sent.length > 1 || nonce === undefined || !isGoodNonce(call, nonce))
    throw csrfFailed('invalid_nonce', 'The nonce is not valid (any more): fetch a new one and try again.')
}

function isGoodNonce({ shop, identity, now }: Call, nonce: string): boolean {
  const nobody = { sessionTokenHash: null, startNonceHash: null }
  const bearer =
    identity === null
      ? nobody
      : { sessionTokenHash: identity.session.tokenHash, startNonceHash: identity.session.startNonceHash }
  return checkNonce(shop.keys, nonce, nobody, now) || checkNonce(shop.keys, nonce, bearer, now)
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

export function csrfFailed(reason: 'missing_nonce' | 'invalid_nonce' | 'cross_site', message: string): AppError {
  return new AppError('CSRF_FAILED', message, { reason })
}
