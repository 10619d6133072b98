import type { Meta } from './api-types.ts'
import { isLost, isShopError, ShopError } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import { namedMethods } from './methods.ts'
import type { NamedMethods } from './methods.ts'
import type { RequestOptions, Requests } from './requests.ts'
import { VisitorCookies } from './visitor-cookies.ts'
import type { SetCookie } from './visitor-cookies.ts'

export type ClientOptions = {
  /** The base URL of the API; default `/api/secure`, the site's first-party proxy. A server needs the whole URL. */
  baseUrl?: string
  /** Replaces the global fetch. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Sent with every request. */
  headers?: Record<string, string>
  credentials?: 'omit' | 'same-origin' | 'include'
  /** The visitor's request, on a server that renders pages: the client sends their shop cookies with its requests. */
  request?: { headers: { get(name: string): string | null } }
  /** Receives each cookie that the shop sets, to be sent to the visitor. */
  onSetCookie?: (cookie: SetCookie) => void
  /** The visitor's address, on a server: the shop's limits count by it if it trusts the server (SHOPSTEAD_TRUSTED_PROXIES). */
  clientAddress?: string | undefined
  /** The pauses in milliseconds before a checkout is repeated whose answer was lost; default 500 and 2000. */
  repeatAfterMs?: readonly number[]
}

export type Client = Requests & NamedMethods

const checkoutPath = '/store/checkout-session'

/** Whether an operation needs no nonce: it reads what everyone may read. */
function isOpen(method: string, path: string): boolean {
  return method === 'GET' && (path === '/nonce' || path === '/health' || path.startsWith('/store/'))
}

/**
 * A browser asks whether its copy of the catalog is current. Otherwise it may show one that is ten minutes old, since
 * the shop lets caches send a response once more while they fetch a newer one (stale-while-revalidate).
 */
const isBrowser = 'document' in globalThis

/** Whether an operation returns the same to everyone, so that it needs no cookies and a server may cache it. */
function isPublic(method: string, path: string): boolean {
  return isOpen(method, path) && path !== '/nonce' && !path.startsWith('/store/orders/')
}

type Sent = RequestOptions<unknown> & { body?: unknown }
type Envelope = { data?: unknown; error?: { code: ErrorCode; message: string; details: unknown }; meta?: Partial<Meta> }

/**
 * Creates a client for the shop's API. It fetches a nonce when the first request needs one and keeps it. When the
 * service refuses the nonce as invalid, it fetches a new one and retries the request once. It repeats a checkout whose
 * answer was lost under the same Idempotency-Key, which charges at most once; so does a later call for the same checkout.
 *
 * Each call returns the envelope's `data`, or rejects with the signal's reason when the caller aborts it.
 *
 * @throws ShopError for an error response, or with the code NO_ANSWER when the shop sends no valid response
 * @throws TypeError on a server without a complete `baseUrl`
 */
export function createClient(options: ClientOptions = {}): Client {
  const { baseUrl = '/api/secure', headers = {}, credentials = 'same-origin', repeatAfterMs = [500, 2000] } = options
  const send = options.fetch ?? ((url, init) => fetch(url, init))
  const visitor = options.request === undefined ? undefined : new VisitorCookies(options.request.headers.get('cookie'))
  if (visitor !== undefined && options.fetch === undefined && baseUrl.startsWith('/'))
    throw new TypeError('A server needs the whole baseUrl, such as http://127.0.0.1:3000/api/v1.')
  /** The current nonce, or the request for it; shared by all requests. */
  let nonce: Promise<string> | undefined
  /** The service itself needs no nonce for a read, and a proxy does. A server talks to either. */
  let readsNeedNonce = visitor === undefined
  /** The keys of checkouts that have no answer yet. The same checkout goes on under its key, so it is charged once. */
  const unanswered = new Map<string, string>()

  function headersFor(method: string, path: string, sent: Sent, withNonce: string | undefined): Record<string, string> {
    const cookie = visitor === undefined || isPublic(method, path) ? '' : visitor.header
    return {
      accept: 'application/json',
      ...headers,
      ...(cookie === '' ? {} : { cookie }),
      ...(options.clientAddress === undefined ? {} : { 'x-forwarded-for': options.clientAddress }),
      ...(sent.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(withNonce === undefined ? {} : { 'x-nonce': withNonce }),
      ...(sent.idempotencyKey === undefined ? {} : { 'idempotency-key': sent.idempotencyKey })
    }
  }

  async function exchange(method: string, path: string, sent: Sent, withNonce: string | undefined): Promise<Envelope> {
    const { body, signal, cache, next } = sent
    const init = {
      method,
      credentials,
      headers: headersFor(method, path, sent, withNonce),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      ...(cache === undefined && !isBrowser ? {} : { cache: cache ?? 'no-cache' }),
      ...(next === undefined ? {} : { next })
    }
    const url = `${baseUrl}${path}${search(sent.query)}`
    try {
      const response = await send(url, init)
      const cookies = visitor === undefined ? [] : response.headers.getSetCookie().map((line) => visitor.take(line))
      for (const cookie of cookies) options.onSetCookie?.(cookie)
      warnOfDroppedQuery(path, response)
      return await read(url, response)
    } catch (error) {
      // A caller that aborted gets its own reason.
      if (isShopError(error) || signal?.aborted === true) throw error
      const message = 'The shop cannot be reached at the moment. Check your connection, then try again.'
      throw new ShopError('NO_ANSWER', message, { cause: error })
    }
  }

  async function freshNonce(): Promise<string> {
    const { data } = await exchange('GET', '/nonce', {}, undefined)
    return (data as { nonce: string }).nonce
  }

  /** Concurrent requests share one fetch. A failed fetch is forgotten, so that the next request tries again. */
  function currentNonce(): Promise<string> {
    if (nonce === undefined) {
      const fetched = freshNonce()
      nonce = fetched
      fetched.catch(() => forget(fetched))
    }
    return nonce
  }

  /** Forgets only the given nonce, because another request may have fetched a newer one. */
  function forget(refused: Promise<string>): void {
    if (nonce === refused) nonce = undefined
  }

  async function withNonce(method: string, path: string, sent: Sent): Promise<Envelope> {
    const first = currentNonce()
    const firstNonce = await first
    try {
      return await exchange(method, path, sent, firstNonce)
    } catch (error) {
      if (!isNonceError(error, 'invalid_nonce')) throw error
      forget(first)
      return await exchange(method, path, sent, await currentNonce())
    } finally {
      // The nonce belonged to the session, which has ended.
      if (path === '/auth/logout') nonce = undefined
    }
  }

  async function once(method: string, path: string, sent: Sent): Promise<Envelope> {
    if (isOpen(method, path)) return exchange(method, path, sent, undefined)
    if (method !== 'GET' || readsNeedNonce) return withNonce(method, path, sent)
    try {
      return await exchange(method, path, sent, undefined)
    } catch (error) {
      if (!isNonceError(error, 'missing_nonce')) throw error
      readsNeedNonce = true
      return withNonce(method, path, sent)
    }
  }

  async function request(method: string, path: string, sent: Sent = {}): Promise<Envelope> {
    if (path !== checkoutPath) return once(method, path, sent)
    const checkout = JSON.stringify([sent.query, sent.body])
    const keyed = { ...sent, idempotencyKey: sent.idempotencyKey ?? unanswered.get(checkout) ?? randomKey() }
    // A client of a server may serve several visitors, whose checkouts can be equal.
    if (sent.idempotencyKey === undefined && visitor === undefined) unanswered.set(checkout, keyed.idempotencyKey)
    try {
      const answer = await repeated(method, path, keyed)
      unanswered.delete(checkout)
      return answer
    } catch (error) {
      if (isShopError(error) && !isLost(error)) unanswered.delete(checkout)
      throw error
    }
  }

  async function repeated(method: string, path: string, keyed: Sent): Promise<Envelope> {
    for (const pauseMs of repeatAfterMs) {
      try {
        return await once(method, path, keyed)
      } catch (error) {
        if (!isLost(error)) throw error
        await pause(pauseMs, keyed.signal)
      }
    }
    return once(method, path, keyed)
  }

  const data = async (method: string, path: string, sent?: Sent): Promise<never> =>
    (await request(method, path, sent)).data as never
  const requests: Requests = {
    get: (path, requestOptions) => data('GET', path, requestOptions),
    post: (path, ...[body, requestOptions]) => data('POST', path, { ...requestOptions, body }),
    patch: (path, body, requestOptions) => data('PATCH', path, { ...requestOptions, body }),
    request: async (method, path, requestOptions) => (await request(method, path, requestOptions)) as never
  }
  return { ...requests, ...namedMethods(requests) }
}

function isNonceError(error: unknown, reason: 'missing_nonce' | 'invalid_nonce'): boolean {
  return isShopError(error, 'CSRF_FAILED') && error.details.reason === reason
}

/** 128 random bits. `crypto.randomUUID` exists only on https pages. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}

/** The proxy forwards only listed parameters, and names the ones that it dropped. */
function warnOfDroppedQuery(path: string, response: Response): void {
  const dropped = response.headers.get('x-dropped-query')
  const { warn } = console
  if (dropped !== null) warn(`The first-party proxy dropped the query of ${path}: ${dropped}.`)
}

async function read(url: string, response: Response): Promise<Envelope> {
  const envelope = (await response.json()) as Envelope | null
  const { error, meta } = envelope ?? {}
  if (envelope !== null && error === undefined && 'data' in envelope) return envelope
  // A web server or a framework answers, and not the shop.
  if (typeof error?.code !== 'string')
    throw new TypeError(`${url} answered ${response.status} without the shop's data.`)
  throw new ShopError(error.code, error.message, {
    status: response.status,
    details: error.details,
    requestId: meta?.request_id ?? null,
    retryAfter: response.headers.get('retry-after')
  })
}

function search(query: unknown): string {
  const sent = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null)
  const text = new URLSearchParams(sent.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}
