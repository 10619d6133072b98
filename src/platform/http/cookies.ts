export type CookieAttributes = {
  httpOnly?: boolean
  secure?: boolean
  sameSite?: 'Lax' | 'Strict' | 'None'
  path?: string
  /** Absent for a cookie that ends with the browser's session; 0 deletes it. */
  maxAgeSeconds?: number
  /** Epoch milliseconds. Browsers prefer Max-Age when a cookie has both. */
  expiresAt?: number
}

// RFC 6265 4.1.1: token, and cookie-octet.
const namePattern = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const valuePattern = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/
const pathPattern = /^\/[\x20-\x3a\x3c-\x7e]*$/

/**
 * The different values of one cookie in a Cookie header as sent, neither unquoted nor percent-decoded. Two values mean that two
 * places set the cookie (another path or subdomain), and the server cannot tell which one is its own.
 */
export function cookieValues(header: string | null | undefined, name: string): string[] {
  if (!header?.includes(name)) return []
  const values = new Set<string>()
  for (const [other, value] of cookiesOf(header)) if (other === name) values.add(value)
  return [...values]
}

/**
 * A Set-Cookie header. The defaults are HttpOnly, SameSite=Lax and Path=/.
 *
 * @throws TypeError for a name, value or path that a cookie cannot have, which is a bug in the caller
 */
export function serializeCookie(name: string, value: string, attributes: CookieAttributes = {}): string {
  const { path = '/', sameSite = 'Lax', httpOnly = true, secure = false, maxAgeSeconds, expiresAt } = attributes
  if (!namePattern.test(name) || !valuePattern.test(value) || !pathPattern.test(path)) {
    throw new TypeError('The name, value or path of the cookie has characters that a header cannot contain.')
  }
  let header = `${name}=${value}; Path=${path}; SameSite=${sameSite}`
  if (maxAgeSeconds !== undefined) header += `; Max-Age=${maxAgeSeconds}`
  if (expiresAt !== undefined) header += `; Expires=${new Date(expiresAt).toUTCString()}`
  if (httpOnly) header += '; HttpOnly'
  if (secure) header += '; Secure'
  return header
}

/**
 * Every cookie of a Cookie header as sent, in order, including repeated names. It skips parts without `=` or without a
 * name: browsers accept `=__Host-session=x` from any origin.
 */
export function cookiesOf(header: string | null | undefined): [name: string, value: string][] {
  const cookies: [name: string, value: string][] = []
  if (!header) return cookies
  for (const part of header.split(';')) {
    const equals = part.indexOf('=')
    const name = part.slice(0, Math.max(equals, 0)).trim()
    if (name !== '') cookies.push([name, part.slice(equals + 1).trim()])
  }
  return cookies
}

type Site = { readonly publicUrl: () => string }
type Purpose = 'session' | 'device' | 'checkout' | 'mailbox' | 'language' | 'desk'

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
  // Nothing on another site leads into the office of the shop.
  const restrictions = purpose === 'desk' ? ({ sameSite: 'Strict' } as const) : {}
  return serializeCookie(ownCookieName(site, purpose), value, { secure: isHttps(site), ...restrictions, ...age })
}

function isHttps({ publicUrl }: Site): boolean {
  return publicUrl().startsWith('https:')
}
