import { checkNonceHeader } from '../platform/http/csrf.ts'
import { cookiesOf } from '../platform/http/cookies.ts'
import { headerValues } from '../platform/http/node-request.ts'
import type { AnswerHeaders, HeaderList } from './upstream.ts'

const forwardedHeaders = ['x-nonce', 'idempotency-key', 'x-correlation-id', 'content-type', 'accept', 'if-none-match'] as const

const returnedHeaders = [
  'content-type',
  'etag',
  'cache-control',
  'retry-after',
  'allow',
  'x-request-id',
  'idempotency-replayed'
] as const

/** Everything else in a site's cookies is the site's own business. */
const shopCookie = /^(__Host-)?shopstead_(session|ref|campaign)$/

/**
 * The headers that go on to the service: the named ones, Shopstead's own cookies and the client's address as the proxy
 * itself knows it. Whatever the client says of its own address, of its rights (Authorization) or of hops (Connection)
 * ends here.
 */
export function headersForService(request: Request, clientAddress: string | undefined, nonce: boolean): HeaderList {
  const headers: HeaderList = []
  for (const name of forwardedHeaders) {
    // Repeats stay repeats, joined: what must come once is refused by the service as it would be without a proxy.
    const values = headerValues(request, name)
    if (values.length > 0) headers.push([name, values.join(', ')])
  }
  const cookies = shopCookies(request.headers.get('cookie'))
  if (cookies !== '') headers.push(['cookie', cookies])
  if (clientAddress !== undefined) headers.push(['x-forwarded-for', clientAddress])
  if (nonce) headers.push([checkNonceHeader, '1'])
  return headers
}

/** A cookie that came twice goes on twice: the service takes neither for a session. */
function shopCookies(header: string | null): string {
  const own: string[] = []
  for (const [name, value] of cookiesOf(header)) if (shopCookie.test(name)) own.push(`${name}=${value}`)
  return own.join('; ')
}

/** The headers that go back to the client: the named ones and every cookie, which becomes the site's own. */
export function headersForClient(answer: AnswerHeaders): HeaderList {
  const headers: HeaderList = [['x-content-type-options', 'nosniff']]
  for (const name of returnedHeaders) {
    const value = answer.get(name)
    if (value !== null) headers.push([name, value])
  }
  for (const cookie of answer.getSetCookie()) headers.push(['set-cookie', withoutDomain(cookie)])
  return headers
}

/** Without a Domain a cookie belongs to the host that sent it alone, which a `__Host-` cookie also asks for. */
function withoutDomain(cookie: string): string {
  const [pair = '', ...attributes] = cookie.split(';')
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(';')
}
