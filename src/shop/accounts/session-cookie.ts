import { cookieValues, serializeCookie } from '../../platform/http/cookies.ts'
import type { ShopContext } from '../context.ts'

/** `__Host-` makes browsers refuse the cookie from anywhere but this very host over https; plain http cannot have it. */
export function sessionCookieName(shop: Pick<ShopContext, 'publicUrl'>): string {
  return isHttps(shop) ? '__Host-shopstead_session' : 'shopstead_session'
}

function isHttps(shop: Pick<ShopContext, 'publicUrl'>): boolean {
  return shop.publicUrl().startsWith('https:')
}

/** The session token that came with a request. A cookie that was sent in twice is no session: one of them was planted. */
export function sessionToken(shop: ShopContext, cookieHeader: string | null): string | null {
  const [token, ...others] = cookieValues(cookieHeader, sessionCookieName(shop))
  return token === undefined || others.length > 0 ? null : token
}

/** Without maxAgeSeconds it lives as long as the browser's own session. */
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
