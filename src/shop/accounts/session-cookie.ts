import { cookieValues, ownCookie, ownCookieName } from '../../platform/http/cookies.ts'
import type { ShopContext } from '../context.ts'

/** With `__Host-`, browsers accept the cookie only from this host over https, so plain http needs a name without it. */
export function sessionCookieName(shop: Pick<ShopContext, 'publicUrl'>): string {
  return ownCookieName(shop, 'session')
}

/** The session token of a request. A cookie that was sent twice is rejected, because one of the two was planted. */
export function sessionToken(shop: ShopContext, cookieHeader: string | null): string | null {
  const [token, ...others] = cookieValues(cookieHeader, sessionCookieName(shop))
  return token === undefined || others.length > 0 ? null : token
}

/** A Set-Cookie value for a session. Without `maxAgeSeconds`, the cookie ends with the browser session. */
export function sessionCookie(shop: ShopContext, token: string, maxAgeSeconds: number | null): string {
  return ownCookie(shop, 'session', token, maxAgeSeconds)
}

/** A Set-Cookie value that removes the session cookie. */
export function endedSessionCookie(shop: ShopContext): string {
  return sessionCookie(shop, '', 0)
}
