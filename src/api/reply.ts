import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { storageUnavailable } from '../platform/db/storage-errors.ts'
import { failure, metaOf, success, jsonResponse, notModified, matchesEtag } from '../platform/http/answers.ts'
import type { RequestIds, HeaderList } from '../platform/http/answers.ts'
import { describeError, clientLog } from '../platform/log.ts'
import { baseOf } from '../platform/texts/languages.ts'
import type { TextKey } from '../platform/texts/languages.ts'
import { browserLanguage, wordsOf } from '../shop/settings/language.ts'
import { translateError } from '../shop/settings/translate.ts'
import { isPublicCode } from './answers/error-codes.ts'
import type { PublicCode } from './answers/error-codes.ts'
import type { Reply, Route, Call } from './route.ts'
import { z } from 'zod'
import { codePoints } from '../platform/text.ts'
import type { CachedResponse } from '../shop/catalog/cached-responses.ts'

/** Wraps a handler's reply in the envelope of its route. */
export function toResponse(route: Route, reply: Reply | Response, ids: RequestIds, now: number): Response {
  if (reply instanceof Response) return reply
  const cookies = (reply.cookies ?? []).map((cookie) => ['set-cookie', cookie] as const)
  return success(reply.data, ids, now, {
    status: reply.status ?? 200,
    meta: metaFor(reply, ids, now),
    headers: [...(reply.headers ?? []), ...cookies],
    noStore: route.cache !== 'public'
  })
}

function metaFor({ meta }: Reply, ids: RequestIds, now: number): object | null | undefined {
  if (meta === null || meta === undefined) return meta
  return 'replace' in meta ? meta.replace : { ...metaOf(ids, now), ...meta.extend }
}

/**
 * Turns an error into a response; no other place does. The cause of an unexpected error appears only in the log, with
 * the request's id.
 */
export function toFailure(
  app: App,
  route: Route | undefined,
  error: unknown,
  { ids, now, request }: { ids: RequestIds; now: number; request: Request }
): Response {
  const known = error instanceof AppError ? error : (unavailableFor(route, error) ?? unforeseen(route))
  logFailure(app, route, known, error, ids)
  const language = browserLanguage(app.db, request.headers.get('accept-language'))
  return failure(inWordsOf(app, withStatusOf(route, known), language), ids, now, { noStore: true })
}

/** An error in another language than English: its message is at least the text of its code. */
function inWordsOf(app: App, error: AppError, language: string | null): AppError {
  if (language === null || baseOf(language) === 'en' || !isPublicCode(error.code)) return error
  const shop = { ...app, language }
  return translateError(shop, error, wordsOf(shop).t(messageKey(error.code)))
}

/** Does not compile for a code without a text. */
function messageKey(code: PublicCode): TextKey {
  return `api.${code}`
}

/**
 * A storage error is a 503, except for referrals and the gateway's webhook, whose failures all have one code and a 500.
 */
function unavailableFor(route: Route | undefined, error: unknown): AppError | undefined {
  const foreseen = route !== undefined && route.proxy !== null && route.unforeseen === undefined
  return foreseen ? storageUnavailable(error) : undefined
}

function unforeseen(route: Route | undefined): AppError {
  return new AppError(route?.unforeseen ?? 'INTERNAL_SERVER_ERROR', 'Something went wrong on our side.')
}

/** Logs a failed request. Expected refusals appear only in the request's own log line. */
function logFailure(app: App, route: Route | undefined, known: AppError, error: unknown, ids: RequestIds): void {
  if (known.logLevel === 'info') return
  const place = { requestId: ids.requestId, path: route?.path ?? 'none', code: known.code }
  if (known.logLevel === 'warn') return clientLog(app.log).warn('a request was refused', place)
  const stack = error instanceof Error && known.status === 500 ? error.stack : undefined
  clientLog(app.log).error('a request failed', { ...place, error: describeError(error), stack })
}

/** Gives VALIDATION_FAILED the status of the endpoint (docs/contract.md 2.5). */
function withStatusOf(route: Route | undefined, error: AppError): AppError {
  if (route === undefined || error.code !== 'VALIDATION_FAILED' || error.status === route.invalid) return error
  return new AppError(error.code, error.message, error.details, { status: route.invalid, headers: error.headers })
}

/**
 * Caching of what is the same for everyone. A CDN keeps a response for a minute. For ten more minutes it may send it once
 * more while it asks for a newer one, and so may a browser whose `fetch` does not say `no-cache`, as the client does.
 */
export const sharedCaching = 'public, max-age=0, s-maxage=60, stale-while-revalidate=600'

/** The header that makes a response with an ETag conditional. */
export const conditionalHeaders = z.object({
  'If-None-Match': z
    .string()
    .optional()
    .meta({ description: 'An ETag of an earlier response; the response is 304 while it is current.' })
})

/** Sends a cached response with its ETag; 304 when the client already has it. */
export function cachedAnswer(
  { request, ids }: Pick<Call, 'request' | 'ids'>,
  { body, etag }: CachedResponse,
  cacheControl: string
): Response {
  const headers: HeaderList = [
    ['etag', etag],
    ['cache-control', cacheControl]
  ]
  if (!matchesEtag(request.headers.get('if-none-match'), etag)) return jsonResponse(body, ids, 200, { headers })
  return notModified(ids, headers)
}

/** A text parameter; an empty one counts as absent. */
export function textParameter(longest: number) {
  const message = `Must have at most ${longest} characters.`
  return z
    .string(message)
    .refine((value) => codePoints(value) <= longest, message)
    .transform((value) => (value === '' ? undefined : value))
    .optional()
    .meta({ type: 'string', maxLength: longest })
}
