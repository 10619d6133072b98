import { z } from 'zod'
import { jsonResponse, notModified, matchesEtag } from '../platform/http/answers.ts'
import type { HeaderList } from '../platform/http/answers.ts'
import { codePoints } from '../platform/text.ts'
import type { CachedResponse } from '../shop/catalog/cached-responses.ts'
import type { Call } from './route.ts'

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
