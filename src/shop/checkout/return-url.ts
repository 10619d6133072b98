/**
 * Reads an address that a browser will be sent to. Backslashes, control characters and spaces are refused before parsing,
 * because browsers and URL parsers disagree about them. Credentials (`https://shop@evil.example`) and hosts with characters
 * that are not valid in DNS are refused, too. Use the returned URL and never the text: all parsers read the URL's
 * spelling in the same way.
 */
export function readWebAddress(text: string): URL | undefined {
  if (/[\\\s\p{C}]/u.test(text) || !/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const hasCredentials = url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)
  return hasCredentials || !plainHost.test(url.hostname) ? undefined : url
}

/** URL accepts hosts such as `a;frame-ancestors`, which would add a directive to the page's Content-Security-Policy. */
const plainHost = /^[a-z\d._-]+$|^\[[\da-f:.]+\]$/
