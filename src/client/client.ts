import type { ErrorDetails, Meta, Operations } from './api-types.ts'

/** A code of the service, or the client's own word for a request that brought no answer of the service at all. */
export type ErrorCode = keyof ErrorDetails | 'NO_ANSWER'

type DetailsOf<Code extends ErrorCode> = Code extends keyof ErrorDetails ? ErrorDetails[Code] : Record<string, never>

type Method = 'GET' | 'POST' | 'PATCH'
type Name = keyof Operations
/** The paths that take a method. */
export type PathOf<M extends Method> = Name extends infer N ? (N extends `${M} ${infer Path}` ? Path : never) : never
type Operation<M extends Method, Path extends PathOf<M>> = Operations[`${M} ${Path}` & Name]
type AnswerOf<M extends Method, Path extends PathOf<M>> = Operation<M, Path>['answer']
export type Data<M extends Method, Path extends PathOf<M>> = AnswerOf<M, Path>['data']
export type Body<M extends Method, Path extends PathOf<M>> = Operation<M, Path>['body']
export type Query<M extends Method, Path extends PathOf<M>> = Operation<M, Path>['query']

export type RequestOptions<Q = undefined> = {
  query?: Q | undefined
  signal?: AbortSignal | undefined
  /** For a checkout: the same key never charges twice. */
  idempotencyKey?: string | undefined
}

export type ClientOptions = {
  /** Where the API answers; the site's own first-party proxy unless told otherwise. */
  baseUrl?: string
  /** Replaces the global fetch, as on a server that has to carry cookies itself. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Sent with every request. */
  headers?: Record<string, string>
  credentials?: 'omit' | 'same-origin' | 'include'
}

/** A refusal of the service. `is` tells which one, and with it the type of its details. */
export class ShopError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ShopError'
  readonly code: Code
  /** 0 where no answer came. */
  readonly status: number
  readonly details: DetailsOf<Code>
  /** What the service's log knows the request by. */
  readonly requestId: string | null
  /** How long to wait before the next try, where the service says so. */
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

  is<Wanted extends ErrorCode>(code: Wanted): this is ShopError<Wanted> {
    const own: ErrorCode = this.code
    return own === code
  }
}

/** All that the service answered; `meta` is left out by referrals and empty for offers. */
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
  /** The answer with its envelope, for whoever needs meta. */
  request<M extends Method, Path extends PathOf<M>>(
    method: M,
    path: Path,
    options?: RequestOptions<Query<M, Path>> & { body?: Body<M, Path> }
  ): Promise<Answer<M, Path>>
}

/** What needs no nonce. */
const open = new Set(['/nonce', '/store/offers', '/health'])

type Sent = RequestOptions<unknown> & { body?: unknown }
type Envelope = { data?: unknown; error?: { code: ErrorCode; message: string; details: unknown }; meta?: Partial<Meta> }

/**
 * A client for a shop's API, from a page by the site's first-party proxy. It fetches the nonce when one is first needed,
 * keeps it, and fetches a new one and tries once more when the service says that it is not valid any more.
 *
 * Each call answers the envelope's data, or throws a ShopError.
 */
export function createClient(options: ClientOptions = {}): Client {
  const { baseUrl = '/api/secure', headers = {}, credentials = 'same-origin' } = options
  const send = options.fetch ?? ((url, init) => fetch(url, init))
  /** On its way or here; shared by all requests. */
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
      // A caller that gave up knows why.
      if (error instanceof ShopError || sent.signal?.aborted === true) throw error
      throw new ShopError('NO_ANSWER', 'The shop cannot be reached, or gave no answer that can be read.', {
        cause: error
      })
    }
  }

  async function freshNonce(): Promise<string> {
    const { data } = await exchange('GET', '/nonce', {}, undefined)
    return (data as { nonce: string }).nonce
  }

  /** Whoever comes while it is on its way waits for the same; one that failed is not kept. */
  function currentNonce(): Promise<string> {
    if (nonce === undefined) {
      const asked = freshNonce()
      nonce = asked
      asked.catch(() => forget(asked))
    }
    return nonce
  }

  /** Only the one that proved bad: another request may have a newer one already. */
  function forget(bad: Promise<string>): void {
    if (nonce === bad) nonce = undefined
  }

  async function request(method: string, path: string, sent: Sent = {}): Promise<Envelope> {
    if (open.has(path)) return exchange(method, path, sent, undefined)
    const first = currentNonce()
    const tried = await first
    try {
      return await exchange(method, path, sent, tried)
    } catch (error) {
      if (!isStale(error)) throw error
      forget(first)
      return await exchange(method, path, sent, await currentNonce())
    } finally {
      // It was the session's, which is over.
      if (path === '/auth/logout') nonce = undefined
    }
  }

  const data = async (method: string, path: string, sent?: Sent): Promise<never> =>
    (await request(method, path, sent)).data as never
  return {
    get: (path, given) => data('GET', path, given),
    post: (path, ...[body, given]) => data('POST', path, { ...given, body }),
    patch: (path, body, given) => data('PATCH', path, { ...given, body }),
    request: async (method, path, given) => (await request(method, path, given)) as never
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
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null)
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}
