import type { ErrorDetails, Meta, Operations } from './api-types.ts'

/** An error code of the service, or NO_ANSWER for a request that got no valid response from it. */
export type ErrorCode = keyof ErrorDetails | 'NO_ANSWER'

type DetailsOf<Code extends ErrorCode> = Code extends keyof ErrorDetails ? ErrorDetails[Code] : Record<string, never>

type Method = 'GET' | 'POST' | 'PATCH'
type Name = keyof Operations
/** The paths that support a method. */
export type PathOf<M extends Method> = Name extends infer N ? (N extends `${M} ${infer Path}` ? Path : never) : never
type Operation<M extends Method, Path extends PathOf<M>> = Operations[`${M} ${Path}` & Name]
type AnswerOf<M extends Method, Path extends PathOf<M>> = Operation<M, Path>['answer']
export type Data<M extends Method, Path extends PathOf<M>> = AnswerOf<M, Path>['data']
export type Body<M extends Method, Path extends PathOf<M>> = Operation<M, Path>['body']
export type Query<M extends Method, Path extends PathOf<M>> = Operation<M, Path>['query']

export type RequestOptions<Q = undefined> = {
  query?: Q | undefined
  signal?: AbortSignal | undefined
  /** Sent as Idempotency-Key. Checkouts with the same key charge at most once. */
  idempotencyKey?: string | undefined
}

export type ClientOptions = {
  /** The base URL of the API; default `/api/secure`, the site's first-party proxy. */
  baseUrl?: string
  /** Replaces the global fetch, for example on a server that must send cookies itself. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Sent with every request. */
  headers?: Record<string, string>
  credentials?: 'omit' | 'same-origin' | 'include'
}

/** An error response of the service. `is` narrows it to one code and the type of its details. */
export class ShopError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ShopError'
  readonly code: Code
  /** The HTTP status; 0 for NO_ANSWER. */
  readonly status: number
  readonly details: DetailsOf<Code>
  /** The request's id in the service's log. */
  readonly requestId: string | null
  /** The value of Retry-After: how long to wait before a retry. */
  readonly retryAfterSeconds: number | null

  constructor(
    code: Code,
    message: string,
    about: {
      status?: number
      details?: unknown
      requestId?: string | null
      retryAfter?: string | null
      cause?: unknown
    }
  ) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause })
    this.code = code
    this.status = about.status ?? 0
    this.details = (about.details ?? {}) as DetailsOf<Code>
    this.requestId = about.requestId ?? null
    this.retryAfterSeconds = about.retryAfter ? Number(about.retryAfter) : null
  }

  /** Whether this error has the given code. */
  is<Wanted extends ErrorCode>(code: Wanted): this is ShopError<Wanted> {
    const own: ErrorCode = this.code
    return own === code
  }
}

/** The response's envelope. Referrals have no `meta`; for offers it is empty. */
export type Answer<M extends Method, Path extends PathOf<M>> = AnswerOf<M, Path>

export type Client = {
  get<Path extends PathOf<'GET'>>(path: Path, options?: RequestOptions<Query<'GET', Path>>): Promise<Data<'GET', Path>>
  post<Path extends PathOf<'POST'>>(
    path: Path,
    ...rest: undefined extends Body<'POST', Path>
      ? [body?: undefined, options?: RequestOptions<Query<'POST', Path>>]
      : [body: Body<'POST', Path>, options?: RequestOptions<Query<'POST', Path>>]
  ): Promise<Data<'POST', Path>>
  patch<Path extends PathOf<'PATCH'>>(
    path: Path,
    body: Body<'PATCH', Path>,
    options?: RequestOptions<Query<'PATCH', Path>>
  ): Promise<Data<'PATCH', Path>>
  /** Sends a request and returns the response with its envelope, for callers that need `meta`. */
  request<M extends Method, Path extends PathOf<M>>(
    method: M,
    path: Path,
    options?: RequestOptions<Query<M, Path>> & { body?: Body<M, Path> }
  ): Promise<Answer<M, Path>>
}

/** Whether an operation needs no nonce: it reads what everyone may read. */
function isOpen(method: string, path: string): boolean {
  return method === 'GET' && (path === '/nonce' || path === '/health' || path.startsWith('/store/'))
}

type Sent = RequestOptions<unknown> & { body?: unknown }
type Envelope = { data?: unknown; error?: { code: ErrorCode; message: string; details: unknown }; meta?: Partial<Meta> }

/**
 * Creates a client for the shop's API. It fetches a nonce when the first request needs one and keeps it. When the
 * service refuses the nonce as invalid, it fetches a new one and retries the request once.
 *
 * Each call returns the envelope's `data`, or rejects with the signal's reason when the caller aborts it.
 *
 * @throws ShopError for an error response, or with the code NO_ANSWER when there is no valid response
 */
export function createClient(options: ClientOptions = {}): Client {
  const { baseUrl = '/api/secure', headers = {}, credentials = 'same-origin' } = options
  const send = options.fetch ?? ((url, init) => fetch(url, init))
  /** The current nonce, or the request for it; shared by all requests. */
  let nonce: Promise<string> | undefined

  async function exchange(method: string, path: string, sent: Sent, withNonce: string | undefined): Promise<Envelope> {
    const init: RequestInit = {
      method,
      credentials,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(sent.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(withNonce === undefined ? {} : { 'x-nonce': withNonce }),
        ...(sent.idempotencyKey === undefined ? {} : { 'idempotency-key': sent.idempotencyKey })
      },
      ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
      ...(sent.signal === undefined ? {} : { signal: sent.signal })
    }
    try {
      return await read(await send(`${baseUrl}${path}${search(sent.query)}`, init))
    } catch (error) {
      // A caller that aborted gets its own reason.
      if (error instanceof ShopError || sent.signal?.aborted === true) throw error
      throw new ShopError(
        'NO_ANSWER',
        'The shop cannot be reached at the moment. Check your connection, then try again.',
        {
          cause: error
        }
      )
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

  async function request(method: string, path: string, sent: Sent = {}): Promise<Envelope> {
    if (isOpen(method, path)) return exchange(method, path, sent, undefined)
    const first = currentNonce()
    const firstNonce = await first
    try {
      return await exchange(method, path, sent, firstNonce)
    } catch (error) {
      if (!isStale(error)) throw error
      forget(first)
      return await exchange(method, path, sent, await currentNonce())
    } finally {
      // The nonce belonged to the session, which has ended.
      if (path === '/auth/logout') nonce = undefined
    }
  }

  const data = async (method: string, path: string, sent?: Sent): Promise<never> =>
    (await request(method, path, sent)).data as never
  return {
    get: (path, requestOptions) => data('GET', path, requestOptions),
    post: (path, ...[body, requestOptions]) => data('POST', path, { ...requestOptions, body }),
    patch: (path, body, requestOptions) => data('PATCH', path, { ...requestOptions, body }),
    request: async (method, path, requestOptions) => (await request(method, path, requestOptions)) as never
  }
}

function isStale(error: unknown): boolean {
  return error instanceof ShopError && error.is('CSRF_FAILED') && error.details.reason === 'invalid_nonce'
}

async function read(response: Response): Promise<Envelope> {
  const envelope = (await response.json()) as Envelope
  const { error, meta } = envelope
  if (error === undefined) return envelope
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
