import { AppError } from '../errors.ts'
import { methodNotAllowed, notFound } from '../platform/http/addresses.ts'
import { readBody } from '../platform/http/body.ts'
import { isCrossSite } from '../platform/http/cross-site.ts'
import { csrfFailed, sentNonce } from '../platform/http/csrf.ts'
import { metaOf, requestIds } from '../platform/http/envelope.ts'
import { headerValues, rawPath, rawTarget, socketAddress } from '../platform/http/node-request.ts'
import { allowlist } from './allowlist.ts'
import type { AllowedRoute } from './allowlist.ts'
import { headersForClient, headersForService } from './headers.ts'
import { requestInProcess, requestService } from './upstream.ts'
import type { InProcessService, Send, ForwardedRequest } from './upstream.ts'

export type ProxyOptions = {
  /** Where the service answers: its origin, or its api_root where that is not /api/v1 of the origin. */
  upstream: string | URL
  /** Where the site mounts the proxy; `/api/secure` unless told otherwise. */
  prefix?: string
  /** The site as browsers know it, for requests whose Host header does not say so. */
  publicUrl?: string | (() => string)
  /** Further origins whose pages may send. */
  origins?: readonly string[]
  /** Lets pages of any loopback origin send: a development server has a port of its own. */
  development?: boolean
  /**
   * Who sends a request, where the site's own server knows it. The service counts its limits by this address when the
   * proxy's own is one of SHOPSTEAD_TRUSTED_PROXIES. Unless given, the socket's, where the request still knows its socket.
   */
  clientAddress?: (request: Request) => string | undefined
  /** How requests reach the service; `fetch` unless told otherwise. */
  send?: Send
  /** For a service in the same process, in place of `send`. */
  inProcess?: InProcessService
  /** Replaces the 15 s (checkout: 30 s) after which a silent service is given up. */
  timeoutMs?: number | ((usualMs: number) => number)
  /** Told what went wrong between the proxy and the service; the client is told only that something did. */
  onFailure?: (error: unknown) => void
}

/**
 * The first-party proxy: what a site mounts at /api/secure so that the shop's cookies are the site's own. It lets the
 * service's public routes through and nothing else, asks for the nonce, and passes on named headers and parameters only.
 * What it makes is a web-standard handler, as Next.js and Nuxt routes and h3 take it; toNodeListener of
 * shopstead/proxy/node mounts it in a plain node:http server.
 *
 * @throws TypeError for an upstream that is no http or https address
 */
export function createProxy(options: ProxyOptions): (request: Request) => Promise<Response> {
  const apiRoot = parseUpstream(options.upstream)
  const prefix = options.prefix ?? '/api/secure'
  const table = new Map<string, AllowedRoute[]>()
  for (const entry of allowlist) {
    const path = `${prefix}${entry.path}`
    table.set(path, [...(table.get(path) ?? []), entry])
  }

  async function pass(request: Request): Promise<Response> {
    const target = rawTarget(request)
    const entry = findEntry(table.get(rawPath(target)), request.method)
    refuseCrossSite(request, options)
    if (entry.nonce) sentNonce(headerValues(request, 'x-nonce'))
    const clientAddress = options.clientAddress === undefined ? socketAddress(request) : options.clientAddress(request)
    const sent: ForwardedRequest = {
      method: request.method,
      headers: headersForService(request, clientAddress, entry.nonce),
      body: entry.method === 'GET' ? null : await bodyFor(request, entry.bodyLimitBytes)
    }
    const url = `${apiRoot}${entry.path}${queryFor(target, entry.query)}`
    const timeoutMs = timeoutFor(entry, options)
    const { inProcess, send = (made) => fetch(made) } = options
    if (inProcess !== undefined) {
      const { status, headers, body } = await requestInProcess(inProcess, { url, sent, clientAddress, timeoutMs })
      return inProcess.respond(body, status, headersForClient(headers))
    }
    const build = (signal: AbortSignal): Request => new Request(url, { ...sent, ...requestInit, signal })
    const { status, headers, body } = await requestService({ build, send, timeoutMs })
    return new Response(body, { status, headers: headersForClient(headers) })
  }

  return async (request) => {
    try {
      return await pass(request)
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) options.onFailure?.(error)
      return refusal(request, error)
    }
  }
}

const requestInit: RequestInit = {
  redirect: 'manual',
  // Some sites' frameworks keep what fetch brings, and would show one customer's orders to the next.
  cache: 'no-store'
}

function timeoutFor({ timeoutMs }: AllowedRoute, { timeoutMs: replaced = timeoutMs }: ProxyOptions): number {
  return typeof replaced === 'number' ? replaced : replaced(timeoutMs)
}

/** The address of api_root without a slash at its end. */
function parseUpstream(upstream: string | URL): string {
  const url = URL.parse(String(upstream))
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError('The upstream must be an http or https address, such as http://127.0.0.1:3000.')
  const path = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${path === '' ? '/api/v1' : path}`
}

/** By the path as it was sent: nothing that has to be decoded or resolved first is any path of ours. */
function findEntry(entries: readonly AllowedRoute[] | undefined, method: string): AllowedRoute {
  if (entries === undefined) throw notFound()
  const wanted = method === 'HEAD' ? 'GET' : method
  const entry = entries.find((candidate) => candidate.method === wanted)
  if (entry === undefined) throw methodNotAllowed(entries.map((candidate) => candidate.method))
  return entry
}

function refuseCrossSite(request: Request, { publicUrl = '', origins = [], development = false }: ProxyOptions): void {
  const refused = isCrossSite({
    method: request.method,
    secFetchSite: request.headers.get('sec-fetch-site'),
    origin: request.headers.get('origin'),
    host: request.headers.get('host') ?? URL.parse(request.url)?.host,
    publicUrl: typeof publicUrl === 'string' ? publicUrl : publicUrl(),
    origins,
    development
  })
  if (refused) throw csrfFailed('cross_site', 'This request came from another site.')
}

/** The allowed parameters as they were sent, repeats and faults included, for the service to judge. */
function queryFor(target: string, allowed: readonly string[]): string {
  const start = target.indexOf('?')
  if (start === -1 || allowed.length === 0) return ''
  const kept = target
    .slice(start + 1)
    .split('&')
    .filter((part) => allowed.includes(decodedName(part)))
  // A raw target may hold a # that would end the query here.
  return kept.length === 0 ? '' : `?${kept.join('&').replaceAll('#', '%23')}`
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
 * The body, read whole before anything goes on, so that a slow client holds nothing but itself. One that is too large
 * becomes any bytes that are: the service refuses it by its size, after the checks that come before that.
 */
async function bodyFor(request: Request, limitBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    const body = await readBody(request, limitBytes)
    return body.length === 0 ? null : new Uint8Array(body)
  } catch (error) {
    if (error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE') return new Uint8Array(limitBytes + 1)
    throw error
  }
}

/** The proxy's own refusals look like the service's. */
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
