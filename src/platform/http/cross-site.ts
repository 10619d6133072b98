export type SiteClues = {
  method: string
  secFetchSite: string | null | undefined
  origin: string | null | undefined
  host: string | null | undefined
  publicUrl: string
  /** Further origins that may send. */
  origins: readonly string[]
  /** Lets any loopback origin send: a site's development server has a port of its own. */
  development: boolean
}

/**
 * Whether a mutating request was sent by the page of another site. The browser's own Sec-Fetch-Site decides where it is
 * sent; `same-site` (another subdomain, another port) and older browsers go by Origin. A request that says nothing is no
 * browser's, and carries no cookies that it was not given.
 */
export function isCrossSite(clues: SiteClues): boolean {
  const { method, secFetchSite, origin } = clues
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false
  if (secFetchSite === 'same-origin' || secFetchSite === 'none') return false
  if (secFetchSite === null || secFetchSite === undefined) {
    return origin !== null && origin !== undefined && !isAllowed(clues)
  }
  // Anything but same-site is cross-site, or a value that no browser sends, such as two of them joined.
  return secFetchSite !== 'same-site' || !isAllowed(clues)
}

function isAllowed({ origin, host, publicUrl, origins, development }: SiteClues): boolean {
  const url = parseOrigin(origin)
  if (url === undefined) return false
  if (host !== null && host !== undefined && isSameHost(url, host)) return true
  if (development && isLoopback(url.hostname)) return true
  return [publicUrl, ...origins].some((allowed) => URL.parse(allowed)?.origin === url.origin)
}

/** Nothing for `null` (a sandboxed frame, a redirect), and for whatever is no origin of the web. */
function parseOrigin(origin: string | null | undefined): URL | undefined {
  if (origin === null || origin === undefined) return undefined
  const url = URL.parse(origin)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  return url.origin === origin.toLowerCase() ? url : undefined
}

/** Host has no scheme, and TLS may end before us: the origin's own scheme tells which port may be left out. */
function isSameHost(origin: URL, host: string): boolean {
  const sent = URL.parse(`${origin.protocol}//${host}`)
  return sent !== null && sent.origin === origin.origin && sent.pathname === '/' && sent.username === ''
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}
