import { csrfFailed } from './csrf.ts'
import { isLoopback } from './loopback.ts'

/** The parts of a request and of the configuration that show which site sent it. */
export type SiteClues = {
  method: string
  secFetchSite: string | null | undefined
  origin: string | null | undefined
  host: string | null | undefined
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

function isAllowed({ origin, host, publicUrl, origins, development }: SiteClues): boolean {
  const url = parseOrigin(origin)
  if (url === undefined) return false
  if (host !== null && host !== undefined && isSameHost(url, host)) return true
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
