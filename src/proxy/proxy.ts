import { AppError } from '../errors.ts'
import { methodNotAllowed, notFound, metaOf, requestIds } from '../platform/http/answers.ts'
import { readBody } from '../platform/http/body.ts'
import { refuseOtherSite, sentNonce, usualPrefix } from '../platform/http/cross-site.ts'
import { headerValues, pathPattern, rawPath, rawTarget, socketAddress } from '../platform/http/client-address.ts'
import { trimEndOf } from '../platform/text.ts'
import { allowlist } from './allowlist.ts'
import type { AllowedRoute } from './allowlist.ts'
import { headersForClient, headersForService } from './headers.ts'
import { requestInProcess, requestService } from './upstream.ts'
import type { Send } from './upstream.ts'
import { visitorAddress } from './visitor-address.ts'

export type ProxyOptions = {
  /** The service's origin, or its api_root if that is not /api/v1 on the origin. */
  upstream: string | URL
  /** The path where the site mounts the proxy; default `/api/secure`. */
  prefix?: string
  /** The site's public URL, for requests whose Host header differs from it. */
  publicUrl?: string | (() => string)
  /** Other origins that may send mutating requests. */
  origins?: readonly string[]
  /** Also allows any loopback origin, because a development server has its own port. */
  development?: boolean
  /** Returns the client's address for every request, instead of the `clientAddress` of its context. */
  clientAddress?: (request: Request) => string | undefined
  /** Sends a request to the service; default `fetch`. */
  send?: Send
  /** Replaces `send` for the API in the same process, whose responses need no filter. */
  inProcess?: (request: Request) => Promise<Response>
  /** Replaces the timeout of 15 s (checkout: 30 s) for the service's response. */
  timeoutMs?: number | ((usualMs: number) => number)
  /** Receives the cause of a failure between proxy and service. The client gets only a general error. */
  onFailure?: (error: unknown) => void
}

/** What a framework knows about a request and the Request does not. */
export type ProxyContext = {
  /**
   * The client's address. The service counts rate limits by it if SHOPSTEAD_TRUSTED_PROXIES contains the proxy's address.
   * Default: the socket's address, if the request still has its socket. Without an address, all clients share the limits,
   * and `shopstead health` fails.
   */
  clientAddress?: string | null | undefined
}

/** Answers a request of a visitor. */
export type ProxyHandler = (request: Request, context?: ProxyContext) => Promise<Response>

/**
 * Creates the first-party proxy, which a site mounts at /api/secure so that the shop's cookies are first-party. It
 * forwards only the service's public routes, requires the nonce, and forwards only allowed headers and query parameters.
 * The result is a web-standard handler for Next.js and Nuxt routes and h3; toNodeListener of shopstead/proxy/node mounts
 * it in a node:http server.
 *
 * @throws TypeError when the upstream is not an http or https URL, or the prefix is not a path
 */
export function createProxy(options: ProxyOptions): ProxyHandler {
  const apiRoot = parseUpstream(options.upstream)
  const prefix = parsePrefix(options.prefix ?? usualPrefix)
  const table = allowlist.map((entry) => ({ entry, pattern: pathPattern(`${prefix}${entry.path}`) }))
  const find = (path: string): AllowedRoute[] =>
    table.flatMap(({ entry, pattern }) => (pattern.test(path) ? [entry] : []))

  async function forward(request: Request, context: ProxyContext): Promise<Response> {
    const target = rawTarget(request)
    const path = rawPath(target)
    const entry = findEntry(find(path), request.method)
    refuseCrossSite(request, options)
    if (entry.nonce) sentNonce(headerValues(request, 'x-nonce'))
    const clientAddress = visitorAddress(
      options.clientAddress === undefined
        ? (context.clientAddress ?? socketAddress(request))
        : options.clientAddress(request)
    )
    const sent = {
      method: request.method,
      headers: headersForService(request, clientAddress, entry.nonce ? prefix : null),
      body: entry.method === 'GET' ? null : await bodyFor(request, entry.bodyLimitBytes)
    }
    const { forwarded, dropped } = queryFor(target, entry.query)
    const url = `${apiRoot}${path.slice(prefix.length)}${forwarded}`
    const timeoutMs = timeoutFor(entry, options)
    const { inProcess, send = (made) => fetch(made) } = options
    if (inProcess !== undefined) {
      const response = await requestInProcess(inProcess, new Request(url, sent), timeoutMs)
      if (dropped.length > 0) response.headers.set('x-dropped-query', dropped.join(', '))
      return response
    }
    const build = (signal: AbortSignal): Request => new Request(url, { ...sent, ...requestInit, signal })
    const { status, headers, body } = await requestService({ build, send, timeoutMs })
    return new Response(body, { status, headers: headersForClient(headers, dropped) })
  }

  return async (request, context = {}) => {
    try {
      return await forward(request, context)
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) options.onFailure?.(error)
      return refusal(request, error)
    }
  }
}

const requestInit: RequestInit = {
  redirect: 'manual',
  // Some frameworks cache fetch's responses and would show one customer's orders to another.
  cache: 'no-store'
}

function timeoutFor({ timeoutMs }: AllowedRoute, { timeoutMs: replaced = timeoutMs }: ProxyOptions): number {
  return typeof replaced === 'number' ? replaced : replaced(timeoutMs)
}

/** The URL of api_root without a trailing slash. */
function parseUpstream(upstream: string | URL): string {
  const url = URL.parse(String(upstream))
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError('The upstream must be an http or https URL, such as http://127.0.0.1:3000.')
  const path = trimEndOf(url.pathname, '/')
  return `${url.origin}${path === '' ? '/api/v1' : path}`
}

/** The prefix with a slash at its start and without one at its end; empty for the root. */
function parsePrefix(prefix: string): string {
  const path = trimEndOf(prefix.startsWith('/') ? prefix : `/${prefix}`, '/')
  if (/^(?:\/[\w~-][\w.~-]*)*$/.test(path)) return path
  throw new TypeError('The prefix must be a path of letters, digits, - and _, such as /api/secure.')
}

/** Finds the route by the raw path, so that an encoded or relative path never matches. */
function findEntry(entries: readonly AllowedRoute[], method: string): AllowedRoute {
  if (entries.length === 0) throw notFound()
  const wanted = method === 'HEAD' ? 'GET' : method
  const entry = entries.find((candidate) => candidate.method === wanted)
  if (entry === undefined) throw methodNotAllowed(entries.map((candidate) => candidate.method))
  return entry
}

function refuseCrossSite(request: Request, { publicUrl = '', origins = [], development = false }: ProxyOptions): void {
  refuseOtherSite({
    method: request.method,
    secFetchSite: request.headers.get('sec-fetch-site'),
    origin: request.headers.get('origin'),
    hosts: [request.headers.get('host') ?? URL.parse(request.url)?.host],
    publicUrl: typeof publicUrl === 'string' ? publicUrl : publicUrl(),
    origins,
    development
  })
}

/**
 * The allowed parameters exactly as sent, including repeated and malformed ones, which the service refuses, and the names of
 * the first ten others.
 */
function queryFor(target: string, allowed: readonly string[]): { forwarded: string; dropped: string[] } {
  const start = target.indexOf('?')
  const parts = start === -1 ? [] : target.slice(start + 1).split('&')
  const names = parts.map(decodedName)
  const kept = parts.filter((_part, at) => allowed.includes(names[at] ?? ''))
  // A name goes into a header, so only plain ones are reported.
  const others = names.filter((name) => !allowed.includes(name) && /^[\w.-]{1,40}$/.test(name))
  return {
    // A raw target may contain a #, which would end the query.
    forwarded: kept.length === 0 ? '' : `?${kept.join('&').replaceAll('#', '%23')}`,
    dropped: [...new Set(others)].slice(0, 10)
  }
}

function decodedName(part: string): string {
  const name = part.split('=', 1)[0] ?? ''
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return ''
  }
}

/**
 * Reads the whole body before anything is forwarded, so that a slow client does not occupy the service. A body over the
 * limit becomes `limitBytes + 1` zero bytes: the service refuses it by size, after its earlier checks.
 */
async function bodyFor(request: Request, limitBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    const body = await readBody(request, limitBytes)
    return body.length === 0 ? null : body
  } catch (error) {
    if (error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE') return new Uint8Array(limitBytes + 1)
    throw error
  }
}

/** A refusal by the proxy, in the service's envelope. */
function refusal(request: Request, error: unknown): Response {
  const known = error instanceof AppError ? error : new AppError('INTERNAL_SERVER_ERROR', 'Something went wrong.')
  const { code, message, details, status } = known
  const ids = requestIds(request.headers.get('x-correlation-id'))
  const body = { error: { code, message, details }, meta: metaOf(ids, Date.now()) }
  return Response.json(body, {
    status,
    headers: {
      ...known.headers,
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': ids.requestId
    }
  })
}
