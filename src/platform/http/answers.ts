import { FastResponse } from 'srvx'
import { AppError } from '../../errors.ts'
import type { ErrorDetails } from '../../errors.ts'
import { toIso } from '../iso-time.ts'

export type RequestIds = { requestId: string; correlationId: string }

export type Meta = { correlationId: string; correlation_id: string; request_id: string; timestamp: string }

/** Headers; a name may repeat (Set-Cookie). */
export type HeaderList = [name: string, value: string][]

type Extras = {
  /** Sends Cache-Control: no-store, for answers that belong to one user. */
  noStore?: boolean
  /** Additional headers; a name may repeat (Set-Cookie). */
  headers?: readonly (readonly [name: string, value: string])[]
}

type Envelope = {
  status?: number
  meta?: object | null | undefined
}

const correlationPattern = /^[A-Za-z0-9._-]{1,128}$/

/** A new request id, and the client's correlation id if it is safe to write into a log, otherwise a new one. */
export function requestIds(inboundCorrelationId?: string | null): RequestIds {
  const inbound = inboundCorrelationId ?? ''
  return {
    requestId: crypto.randomUUID(),
    correlationId: correlationPattern.test(inbound) ? inbound : crypto.randomUUID()
  }
}

/** The standard `meta` of an answer; `now` is in epoch milliseconds. */
export function metaOf(ids: RequestIds, now: number): Meta {
  return {
    correlationId: ids.correlationId,
    correlation_id: ids.correlationId,
    request_id: ids.requestId,
    timestamp: toIso(now)
  }
}

/**
 * An answer `{data, meta}`. `meta` replaces the standard one (offers sends an empty one); `null` omits the key, as
 * referrals does.
 */
export function success(
  data: unknown,
  ids: RequestIds,
  now: number,
  { status = 200, meta, ...extras }: Extras & Envelope = {}
): Response {
  const body = { data: data ?? null, ...(meta === null ? {} : { meta: meta ?? metaOf(ids, now) }) }
  return jsonResponse(JSON.stringify(body), ids, status, extras)
}

/** An answer `{error, meta}` with the error's status and headers. */
export function failure(
  error: Pick<AppError, 'code' | 'message' | 'status'> & { details: ErrorDetails; headers?: AppError['headers'] },
  ids: RequestIds,
  now: number,
  { headers = [], ...extras }: Extras = {}
): Response {
  const body = {
    error: { code: error.code, message: error.message, details: error.details },
    meta: metaOf(ids, now)
  }
  const all = [...headers, ...Object.entries(error.headers ?? {})]
  return jsonResponse(JSON.stringify(body), ids, error.status, { ...extras, headers: all })
}

/** An answer with the headers of every JSON answer. */
export function jsonResponse(
  json: string | Uint8Array<ArrayBuffer>,
  ids: RequestIds,
  status: number,
  { noStore = false, headers = [] }: Extras = {}
): Response {
  const all: HeaderList = [['content-type', 'application/json; charset=utf-8'], ...everyAnswers(ids)]
  if (noStore) all.push(['cache-control', 'no-store'])
  for (const [name, value] of headers) all.push([name, value])
  return new FastResponse(json, { status, headers: all })
}

/** 304: the client's cached answer is still current. `headers` are its validators. */
export function notModified(ids: RequestIds, headers: HeaderList): Response {
  return new FastResponse(null, { status: 304, headers: [...headers, ...everyAnswers(ids)] })
}

function everyAnswers(ids: RequestIds): HeaderList {
  return [
    ['x-content-type-options', 'nosniff'],
    ['x-request-id', ids.requestId]
  ]
}

/** NOT_FOUND for a path without a route. */
export function notFound(): AppError {
  return new AppError('NOT_FOUND', 'There is nothing at this address.')
}

/** METHOD_NOT_ALLOWED with an Allow header. GET includes HEAD. */
export function methodNotAllowed(methods: Iterable<string>): AppError {
  const allowed = [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const headers = { Allow: allowed.join(', ') }
  return new AppError('METHOD_NOT_ALLOWED', 'This address does not accept that method.', {}, { headers })
}

/**
 * Whether a client already has the response with this ETag. If-None-Match compares weakly (RFC 9110, 13.1.2): a proxy may
 * have changed our tag into a weak one.
 */
export function matchesEtag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.some((tag) => tag === '*' || tag === etag)
}

/**
 * The headers that isolate a page from other sites. A window that another site opened has no reference to the page, and
 * the page uses no device or payment feature of the browser, so a script that gets in cannot ask for one.
 */
export const isolationHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(), usb=()'
} as const
