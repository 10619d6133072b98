import { serializeCookie } from './cookies.ts'

type Site = { readonly publicUrl: () => string }
type Purpose = 'session' | 'device' | 'checkout'

/**
 * The name of a cookie that only the shop reads. `__Host-` makes browsers accept the cookie only from this host over
 * https; plain http cannot have it.
 */
export function ownCookieName(site: Site, purpose: Purpose): string {
  return isHttps(site) ? `__Host-shopstead_${purpose}` : `shopstead_${purpose}`
}

/** A Set-Cookie value. With null for maxAgeSeconds, the cookie lives as long as the browser's session; 0 deletes it. */
export function ownCookie(site: Site, purpose: Purpose, value: string, maxAgeSeconds: number | null): string {
  const age = maxAgeSeconds === null ? {} : { maxAgeSeconds }
  return serializeCookie(ownCookieName(site, purpose), value, { secure: isHttps(site), ...age })
}

function isHttps({ publicUrl }: Site): boolean {
  return publicUrl().startsWith('https:')
}
