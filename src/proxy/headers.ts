import { checkNonceHeader, usualPrefix } from '../platform/http/cross-site.ts'
import { cookiesOf } from '../platform/http/cookies.ts'
import { headerValues } from '../platform/http/client-address.ts'
import type { AnswerHeaders, HeaderList } from './upstream.ts'

const forwardedHeaders = [
  'x-nonce',
  'idempotency-key',
  'x-correlation-id',
  'content-type',
  'accept',
  'accept-language',
  'if-none-match'
] as const

const returnedHeaders = [
  'content-type',
  'etag',
  'cache-control',
  'referrer-policy',
  'retry-after',
  'allow',
  'x-request-id',
  'idempotency-replayed'
] as const

/** The shop's cookies. All other cookies belong to the site and are not forwarded. */
const shopCookie = /^(__Host-)?shopstead_(session|device|checkout|mailbox|ref|campaign|consent)$/

/**
 * The headers for the service: the allowed ones, Shopstead's cookies, and the client's address as the proxy knows it.
 * Drops what a client could forge: X-Forwarded-*, Authorization and Connection.
 *
 * @param checkedAt the proxy's own path, to ask the service to check the nonce; null if the route needs none
 */
export function headersForService(
  request: Request,
  clientAddress: string | undefined,
  checkedAt: string | null
): HeaderList {
  const headers: HeaderList = []
  for (const name of forwardedHeaders) {
    // Repeated headers are joined, so that the service refuses them as it does without a proxy.
    const values = headerValues(request, name)
    if (values.length > 0) headers.push([name, values.join(', ')])
  }
  const cookies = shopCookies(request.headers.get('cookie'))
  if (cookies !== '') headers.push(['cookie', cookies])
  if (clientAddress !== undefined) headers.push(['x-forwarded-for', clientAddress])
  if (checkedAt !== null) headers.push([checkNonceHeader, checkedAt === usualPrefix ? '1' : checkedAt])
  return headers
}

/** Repeated cookies stay repeated, so that the service ignores both as a session (docs/contract.md 3). */
function shopCookies(header: string | null): string {
  const own: string[] = []
  for (const [name, value] of cookiesOf(header)) if (shopCookie.test(name)) own.push(`${name}=${value}`)
  return own.join('; ')
}

/**
 * The headers for the client: the allowed ones, all cookies without a Domain, so that they belong to the site, and the
 * names of the query parameters that were not forwarded.
 */
export function headersForClient(answer: AnswerHeaders, droppedQuery: readonly string[]): HeaderList {
  const headers: HeaderList = [['x-content-type-options', 'nosniff']]
  if (droppedQuery.length > 0) headers.push(['x-dropped-query', droppedQuery.join(', ')])
  for (const name of returnedHeaders) {
    const value = answer.get(name)
    if (value !== null) headers.push([name, value])
  }
  for (const cookie of answer.getSetCookie()) headers.push(['set-cookie', withoutDomain(cookie)])
  return headers
}

/** Without a Domain, a cookie belongs only to the host that set it. A `__Host-` cookie requires this (RFC 6265bis 4.1.3.2). */
function withoutDomain(cookie: string): string {
  const [pair = '', ...attributes] = cookie.split(';')
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(';')
}
