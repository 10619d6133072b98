import type { AppError, ErrorDetails } from '../../errors.ts'
import { toIso } from '../iso-time.ts'
import { WholeResponse } from './whole-response.ts'

export type RequestIds = { requestId: string; correlationId: string }

export type Meta = { correlationId: string; correlation_id: string; request_id: string; timestamp: string }

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
  return jsonResponse(body, ids, status, extras)
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
  return jsonResponse(body, ids, error.status, { ...extras, headers: all })
}

/** An answer with a JSON body and the headers of every answer. Text and bytes must already be JSON. */
export function jsonResponse(
  body: object | string | Uint8Array<ArrayBuffer>,
  ids: RequestIds,
  status: number,
  { noStore = false, headers = [] }: Extras = {}
): Response {
  const flatHeaders = ['content-type', 'application/json; charset=utf-8', ...everyAnswers(ids)]
  if (noStore) flatHeaders.push('cache-control', 'no-store')
  for (const [name, value] of headers) flatHeaders.push(name, value)
  const isWritten = typeof body === 'string' || body instanceof Uint8Array
  return new WholeResponse(isWritten ? body : JSON.stringify(body), status, flatHeaders)
}

/** 304: the client's cached answer is still current. `headers` are its validators. */
export function notModified(ids: RequestIds, headers: NonNullable<Extras['headers']>): Response {
  return new WholeResponse(null, 304, [...headers.flat(), ...everyAnswers(ids)])
}

function everyAnswers(ids: RequestIds): string[] {
  return ['x-content-type-options', 'nosniff', 'x-request-id', ids.requestId]
}
