export type CookieAttributes = {
  /** Kept from the page's script. */
  httpOnly?: boolean
  secure?: boolean
  sameSite?: 'Lax' | 'Strict' | 'None'
  path?: string
  /** Absent for a cookie that ends with the browser's session; 0 deletes it. */
  maxAgeSeconds?: number
  /** Epoch milliseconds; browsers go by Max-Age where both are given. */
  expiresAt?: number
}

// RFC 6265 4.1.1: token, and cookie-octet.
const namePattern = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const valuePattern = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/
const pathPattern = /^\/[\x20-\x3a\x3c-\x7e]*$/

/**
 * The values of one cookie of a Cookie header, as sent: neither unquoted nor percent-decoded. One that has two values was
 * set from two places (another path, another subdomain), and nobody can tell which is ours.
 */
export function cookieValues(header: string | null | undefined, name: string): string[] {
  if (!header?.includes(name)) return []
  const values: string[] = []
  for (const [other, value] of cookiesOf(header)) if (other === name) values.push(value)
  return values
}

/**
 * A Set-Cookie header. Unless told otherwise: HttpOnly, SameSite=Lax, Path=/.
 *
 * @throws TypeError for a name or value that no cookie can have, which is a mistake in the program
 */
export function serializeCookie(name: string, value: string, attributes: CookieAttributes = {}): string {
  const { path = '/', sameSite = 'Lax', httpOnly = true, secure = false, maxAgeSeconds, expiresAt } = attributes
  if (!namePattern.test(name) || !valuePattern.test(value) || !pathPattern.test(path)) {
    throw new TypeError('A cookie has a name, a value or a path that cannot be written into a header.')
  }
  let header = `${name}=${value}; Path=${path}; SameSite=${sameSite}`
  if (maxAgeSeconds !== undefined) header += `; Max-Age=${maxAgeSeconds}`
  if (expiresAt !== undefined) header += `; Expires=${new Date(expiresAt).toUTCString()}`
  if (httpOnly) header += '; HttpOnly'
  if (secure) header += '; Secure'
  return header
}

/**
 * Every cookie of a Cookie header as sent, in its order, names that come twice included. A part without `=` or without a
 * name is no cookie: browsers let `=__Host-session=x` be set from anywhere.
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
