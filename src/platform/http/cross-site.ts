import { AppError } from '../../errors.ts'

/** The parts of a request and of the configuration that show which site sent it. */
export type SiteClues = {
  method: string
  secFetchSite: string | null | undefined
  origin: string | null | undefined
  /** The Host header, and the host that a trusted proxy forwards. */
  hosts: readonly (string | null | undefined)[]
  publicUrl: string
  /** Other allowed origins. */
  origins: readonly string[]
  /** Allows every loopback origin, because a site's development server has another port. */
  development: boolean
}

/**
 * Whether a page of another site sent this mutating request. Sec-Fetch-Site decides if the browser sent it. For
 * `same-site` (another subdomain or port) and in older browsers, Origin decides. A request with neither header does not
 * come from a browser, so it cannot carry a user's cookies without their knowledge.
 */
export function isCrossSite(clues: SiteClues): boolean {
  const { method, secFetchSite, origin } = clues
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false
  if (secFetchSite === 'same-origin' || secFetchSite === 'none') return false
  if (secFetchSite === null || secFetchSite === undefined) {
    return origin !== null && origin !== undefined && !isAllowed(clues)
  }
  // Every other value is cross-site, or one that browsers do not send, such as two values joined.
  return secFetchSite !== 'same-site' || !isAllowed(clues)
}

/**
 * Refuses a mutating request that a page of another site sent. The message names the page's origin and what the operator
 * can do.
 *
 * @throws AppError CSRF_FAILED `cross_site`
 */
export function refuseOtherSite(clues: SiteClues): void {
  if (!isCrossSite(clues)) return
  const origin = parseOrigin(clues.origin)?.origin
  // SHOPSTEAD_ORIGINS cannot allow what the browser calls cross-site.
  const mayBeAllowed = origin !== undefined && (clues.secFetchSite ?? 'same-site') === 'same-site'
  const advice = mayBeAllowed
    ? 'If it is your site, add the origin to SHOPSTEAD_ORIGINS, or to the origins of createProxy.'
    : 'A page can send it only through the proxy on its own site.'
  throw csrfFailed(
    'cross_site',
    `This request came from another site${origin === undefined ? '' : `: ${origin}`}. ${advice}`
  )
}

function isAllowed({ origin, hosts, publicUrl, origins, development }: SiteClues): boolean {
  const url = parseOrigin(origin)
  if (url === undefined) return false
  if (hosts.some((host) => typeof host === 'string' && isSameHost(url, host))) return true
  if (development && isLoopback(url)) return true
  return [publicUrl, ...origins].some((allowed) => URL.parse(allowed)?.origin === url.origin)
}

/** Undefined for `null` (a sandboxed frame, a redirect) and for a value that is not an http or https origin. */
function parseOrigin(origin: string | null | undefined): URL | undefined {
  if (origin === null || origin === undefined) return undefined
  const url = URL.parse(origin)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  return url.origin === origin.toLowerCase() ? url : undefined
}

/** Host has no scheme, and a proxy may terminate TLS, so the origin's scheme determines the default port. */
function isSameHost(origin: URL, host: string): boolean {
  const sent = URL.parse(`${origin.protocol}//${host}`)
  return sent !== null && sent.origin === origin.origin && sent.pathname === '/' && sent.username === ''
}

/**
 * The header by which a first-party proxy asks the service to check the nonce of a request; only the service has the
 * secret. Its value is the path of the proxy on the site, or 1 for the usual one. It can only make the service stricter,
 * and addresses in the client's own answer different, so a client that sends it does no harm.
 */
export const checkNonceHeader = 'x-shopstead-proxy'

/** Where a site mounts the proxy, unless it chooses another path. */
export const usualPrefix = '/api/secure'

/** The path of the proxy that forwarded a request; null without a proxy. */
export function proxyPrefix(headers: Pick<Headers, 'get'>): string | null {
  const sent = headers.get(checkNonceHeader)
  if (sent === null) return null
  return /^(?:\/[\w.~-]{1,100}){0,10}$/.test(sent) ? sent : usualPrefix
}

/** CSRF_FAILED with the reason in its details. */
export function csrfFailed(reason: 'missing_nonce' | 'invalid_nonce' | 'cross_site', message: string): AppError {
  return new AppError('CSRF_FAILED', message, { reason })
}

/**
 * The nonce of a request, from the values of its X-Nonce headers.
 *
 * @throws AppError CSRF_FAILED `missing_nonce` when the header is missing or empty
 */
export function sentNonce(values: readonly string[]): string {
  if (values.length === 0 || values[0] === '') throw csrfFailed('missing_nonce', 'The X-Nonce header is missing.')
  // Two headers join to a text that is not a valid nonce.
  return values.join(', ')
}

/**
 * Whether a URL names this machine: 127.0.0.0/8, ::1, localhost, or a name below localhost (RFC 6761, section 6.3), as
 * browsers decide it for secure contexts.
 */
export function isLoopback({ hostname }: URL): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

/** Whether nobody on the network can read what is sent to an http or https URL. */
export function isPrivate(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))
}
