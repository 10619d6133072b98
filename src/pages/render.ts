import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { matchesEtag, isolationHeaders } from '../platform/http/answers.ts'
import { assetPath } from '../platform/package-root.ts'
import { openTemplates } from '../platform/templates.ts'
import type { Assets, Encoding } from './assets.ts'
import { acceptedEncoding, compressedPage } from './assets.ts'
import type { PageReply } from './page.ts'

/** Caching of a page that is the same for everyone: a CDN keeps it for a minute, and a browser asks each time. */
const publicCaching = 'public, max-age=0, s-maxage=60'

/** Turns replies into responses with the headers of every page. */
export function createRenderer(app: App, assets: Assets): (reply: PageReply, request: Request) => Response {
  const templates = openTemplates(assetPath('pages', 'templates'))
  return (reply, request) => {
    if ('redirect' in reply) {
      return new Response(null, {
        status: 303,
        headers: [
          ['location', reply.redirect],
          ['cache-control', 'no-store'],
          ['referrer-policy', 'no-referrer'],
          ...[reply.setCookie ?? []].flat().map((cookie): [string, string] => ['set-cookie', cookie])
        ]
      })
    }
    if ('text' in reply) {
      const headers = {
        'content-type': reply.type,
        'cache-control': reply.isPrivate === true ? 'no-store' : 'public, max-age=300',
        'x-content-type-options': 'nosniff'
      }
      return new Response(reply.text, { headers })
    }
    if ('file' in reply) {
      const headers = {
        'content-type': reply.type,
        'content-disposition': `inline; filename="${reply.name}"`,
        'cache-control': 'no-store',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex'
      }
      return new Response(reply.file, { headers })
    }
    const {
      status,
      template,
      title,
      data,
      leadsTo = [],
      headers = {},
      setCookie,
      script,
      indexed = false,
      pictureFrom
    } = reply
    const common = {
      title,
      assets: assets.urls,
      scripts: script === undefined ? [] : assets.modulesOf(script)
    }
    const html = templates.html(`${template}.eta`, { ...common, ...data })
    const isPublic = indexed && status === 200
    // A page with personal data is not compressed, because the length could reveal it (BREACH).
    const encoding = isPublic ? acceptedEncoding(request) : null
    const etag = isPublic ? etagOf(html, encoding) : undefined
    const isKnown = etag !== undefined && matchesEtag(request.headers.get('if-none-match'), etag)
    const body = () => (encoding === null ? html : compressedPage(html, encoding))
    const response = new Response(isKnown ? null : body(), {
      status: isKnown ? 304 : status,
      headers: {
        ...headers,
        ...(encoding === null ? {} : { 'content-encoding': encoding }),
        ...(isPublic ? { vary: 'accept-encoding' } : {}),
        ...(etag === undefined ? {} : { etag }),
        'content-type': 'text/html; charset=utf-8',
        'cache-control': isPublic ? publicCaching : 'no-store',
        'content-security-policy': contentSecurityPolicy(
          script !== undefined,
          [app.publicUrl(), ...leadsTo],
          pictureFrom
        ),
        // Paths and queries contain tokens, which other sites must not get. With no-referrer, browsers send forms with
        // `Origin: null` (Fetch, "append a request Origin header"), which are refused without Sec-Fetch-Site.
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        ...isolationHeaders,
        ...(isPublic ? {} : { 'x-robots-tag': 'noindex' })
      }
    })
    for (const cookie of isPublic ? [] : [setCookie ?? []].flat()) response.headers.append('set-cookie', cookie)
    return response
  }
}

/** The tag of a page in one encoding; each encoding has its own (RFC 9110 8.8.3.3). */
function etagOf(html: string, encoding: Encoding | null): string {
  return `"${hash('sha256', html, 'base64url').slice(0, 22)}${encoding === null ? '' : `-${encoding}`}"`
}

/** Chromium also applies form-action to the redirect that answers a form, so its target must be listed. */
function contentSecurityPolicy(isScripted: boolean, leadsTo: readonly (string | null)[], pictureFrom?: string): string {
  const sources = new Set(leadsTo.flatMap((url) => (url === null ? [] : [sourceOf(url)])))
  return [
    "default-src 'none'",
    ...(isScripted ? ["script-src 'self'", "connect-src 'self'"] : []),
    "style-src 'self'",
    `img-src 'self' data:${pictureFrom === undefined ? '' : ` ${sourceOf(pictureFrom)}`}`,
    `form-action 'self' ${[...sources].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'"
  ].join('; ')
}

/**
 * An origin or a scheme (`https:`). The scheme also covers hosts that a policy cannot name: IPv6 addresses, and hosts
 * with other characters than these.
 */
function sourceOf(url: string): string {
  if (/^https?:$/.test(url)) return url
  const { hostname, protocol, origin } = new URL(url)
  return /^[a-z\d.-]+$/.test(hostname) ? origin : protocol
}
