import type { App } from '../app.ts'
import { methodNotAllowed } from '../platform/http/addresses.ts'
import { failure, requestIds } from '../platform/http/envelope.ts'
import { isolationHeaders } from '../platform/http/page-headers.ts'
import { rawPath, rawTarget } from '../platform/http/node-request.ts'
import { sessionCookieName } from '../shop/accounts/session-cookie.ts'

type Page = { body: string; headers: [string, string][] }

/**
 * Answers GET /openapi.json, what this very shop takes and answers, and GET /docs, the same for a person; undefined for
 * any other address. Both are made when first asked for.
 */
export function createDescription(app: App): (request: Request) => Promise<Response | undefined> {
  const made = new Map<string, Promise<Page>>()
  return async (request) => {
    const path = rawPath(rawTarget(request))
    const make = pages.get(path)
    if (make === undefined) return undefined
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const ids = requestIds(request.headers.get('x-correlation-id'))
      return failure(methodNotAllowed(['GET']), ids, app.clock.now(), { noStore: true })
    }
    // A server learns its own address when it listens.
    const key = `${path} ${app.publicUrl()}`
    const page = await (made.get(key) ?? made.set(key, make(app)).get(key))
    return new Response(page?.body, { headers: [...(page?.headers ?? []), ['x-content-type-options', 'nosniff']] })
  }
}

const pages = new Map<string, (app: App) => Promise<Page>>([
  ['/openapi.json', async (app) => ({ body: JSON.stringify(await documentOf(app)), headers: jsonHeaders })],
  ['/docs', referencePage]
])

const jsonHeaders: [string, string][] = [
  ['content-type', 'application/json; charset=utf-8'],
  ['cache-control', 'no-cache']
]

/** The API description of a shop, as it is configured. */
export async function documentOf(app: Pick<App, 'config' | 'publicUrl'>) {
  const { describeApi } = await import('./description/document.ts')
  return describeApi({
    publicUrl: app.publicUrl(),
    apiPrefix: app.config.apiPrefix,
    cookieName: sessionCookieName(app)
  })
}

async function referencePage(app: App): Promise<Page> {
  const { renderReference } = await import('./description/reference-page.ts')
  const { html, styleHash } = renderReference(await documentOf(app))
  const policy = `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  return {
    body: html,
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['cache-control', 'no-cache'],
      ['content-security-policy', policy],
      ['referrer-policy', 'no-referrer'],
      ...Object.entries(isolationHeaders)
    ]
  }
}
