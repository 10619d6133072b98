import { cookieValues, serializeCookie } from '../../platform/http/cookies.ts'
import type { ShopContext } from '../context.ts'

/** With `__Host-`, browsers accept the cookie only from this host over https, so plain http needs a name without it. */
export function sessionCookieName(shop: Pick<ShopContext, 'publicUrl'>): string {
  return isHttps(shop) ? '__Host-shopstead_session' : 'shopstead_session'
}

function isHttps(shop: Pick<ShopContext, 'publicUrl'>): boolean {
  return shop.publicUrl().startsWith('https:')
}

/** The session token of a request. A cookie that was sent twice is rejected, because one of the two was planted. */
export function sessionToken(shop: ShopContext, cookieHeader: string | null): string | null {
  const [token, ...others] = cookieValues(cookieHeader, sessionCookieName(shop))
  return token === undefined || others.length > 0 ? null : token
}

/** A Set-Cookie value for a session. Without `maxAgeSeconds`, the cookie ends with the browser session. */
export function sessionCookie(shop: ShopContext, token: string, maxAgeSeconds: number | null): string {
  return serializeCookie(sessionCookieName(shop), token, {
    httpOnly: true,
    sameSite: 'Lax',
    path: '/',
    secure: isHttps(shop),
    ...(maxAgeSeconds === null ? {} : { maxAgeSeconds })
  })
}

/** A Set-Cookie value that removes the session cookie. */
export function endedSessionCookie(shop: ShopContext): string {
  return sessionCookie(shop, '', 0)
}
