import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
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

/** A file to serve. `etag` is a strong one, in quotes; `bytes` is its content, if that is in memory. */
export type ServedFile = { path: string; sizeBytes: number; etag: string; bytes?: Buffer<ArrayBuffer> | undefined }

/**
 * The response to a GET or HEAD request for a file: the whole file, one range of it (RFC 9110, 14.2), or 416.
 *
 * @param headers further headers, such as content-type
 */
export function fileResponse(request: Request, file: ServedFile, headers: Record<string, string>): Response {
  const all = { ...headers, 'accept-ranges': 'bytes', etag: file.etag }
  const range = parseRange(askedRange(request, file.etag), file.sizeBytes)
  if (range === 'unsatisfiable')
    return new Response(null, { status: 416, headers: { ...all, 'content-range': `bytes */${file.sizeBytes}` } })
  const { start, end } = range ?? { start: 0, end: file.sizeBytes - 1 }
  const length = { 'content-length': String(end - start + 1) }
  if (range === undefined) return new Response(bodyOf(request, file, range), { headers: { ...all, ...length } })
  const part = { ...length, 'content-range': `bytes ${start}-${end}/${file.sizeBytes}` }
  return new Response(bodyOf(request, file, range), { status: 206, headers: { ...all, ...part } })
}

/** Ranges are defined only for GET (RFC 9110, 14.2), and apply only while the file is unchanged (If-Range). */
function askedRange({ method, headers }: Request, etag: string): string | null {
  const ifRange = headers.get('if-range')
  return method === 'GET' && (ifRange === null || ifRange === etag) ? headers.get('range') : null
}

type Range = { start: number; end: number }

function bodyOf(
  request: Request,
  file: ServedFile,
  range: Range | undefined
): ReadableStream | Buffer<ArrayBuffer> | null {
  if (request.method === 'HEAD' || file.sizeBytes === 0) return null
  if (file.bytes !== undefined)
    return range === undefined ? file.bytes : file.bytes.subarray(range.start, range.end + 1)
  return Readable.toWeb(createReadStream(file.path, range)) as ReadableStream
}

/** Reads a single byte range. Several ranges and other units are ignored, so the whole file is sent (RFC 9110 14.2). */
function parseRange(header: string | null, size: number): Range | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header ?? '')
  if (match === null || (match[1] === '' && match[2] === '')) return undefined
  const [first, last] = [match[1], match[2]].map((text) => (text === '' ? undefined : Number(text)))
  const start = first ?? Math.max(0, size - (last ?? 0))
  const end = first === undefined ? size - 1 : Math.min(last ?? size - 1, size - 1)
  if (first !== undefined && last !== undefined && last < first) return undefined
  return start > end || start >= size ? 'unsatisfiable' : { start, end }
}
