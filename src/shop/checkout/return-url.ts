/**
 * Reads an address that a browser will be sent to. Backslashes, control characters and spaces are refused before parsing,
 * because browsers and URL parsers disagree about them; so are credentials (`https://shop@evil.example`), and hosts that
 * no name server knows. What comes back is what was judged, in the one spelling that all parsers read alike: never use
 * the text itself.
 */
export function readWebAddress(text: string): URL | undefined {
  if (/[\\\s\p{C}]/u.test(text) || !/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const hasCredentials = url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)
  return hasCredentials || !plainHost.test(url.hostname) ? undefined : url
}

/** URL takes hosts such as `a;frame-ancestors`, which would be a directive of their own in our page's policy. */
const plainHost = /^[a-z\d._-]+$|^\[[\da-f:.]+\]$/

/**
 * Where a buyer comes back to: what it says proves nothing, so the site asks /orders. The rest of the query stays as the
 * site wrote it; an `orderId` or `result` left in it by an earlier try is replaced.
 */
export function withResult(url: string, orderId: number, result: 'success' | 'pending' | 'cancelled'): string {
  const target = new URL(url)
  const kept = target.search.slice(1).split('&').filter(isTheSites)
  target.search = [...kept, `orderId=${orderId}`, `result=${result}`].join('&')
  return target.href
}

function isTheSites(part: string): boolean {
  const [name] = new URLSearchParams(part).keys()
  return part !== '' && name !== 'orderId' && name !== 'result'
}
