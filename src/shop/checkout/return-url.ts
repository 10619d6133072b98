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
