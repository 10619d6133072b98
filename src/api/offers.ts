import { z } from 'zod'
import { jsonResponse, notModified } from '../platform/http/envelope.ts'
import { queryInteger } from '../platform/http/query.ts'
import { codePoints } from '../platform/text.ts'
import { listOffers } from '../shop/catalog/offers.ts'
import { offersData } from './answers/store.ts'
import { route } from './route.ts'
import type { Route } from './route.ts'

export const offerRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/store/offers',
    summary: 'The products that can be bought now, by category and search',
    answers: [{ data: offersData, meta: 'empty' }],
    refuses: ['DEPENDENCY_UNAVAILABLE'],
    headers: z.object({
      'If-None-Match': z
        .string()
        .optional()
        .meta({ description: 'An ETag of an earlier response; the response is 304 while it is current.' })
    }),
    session: 'none',
    nonce: 'never',
    proxy: { nonce: false, query: [] },
    cache: 'public',
    invalid: 400,
    query: z.object({
      page: queryInteger({ min: 1, max: 1_000_000, default: 1 }),
      perPage: queryInteger({ min: 1, max: 100, default: 20 }),
      category: text(255),
      search: text(100)
    }),
    handler: ({ shop, request, ids, now }, { query }) => {
      const { body, etag } = listOffers(shop, query, now)
      // Caches may store the list but must revalidate it each time, so that a removed product disappears immediately.
      const headers = [
        ['etag', etag],
        ['cache-control', 'no-cache']
      ] as const
      if (!isFresh(request.headers.get('if-none-match'), etag)) return jsonResponse(body, ids, 200, { headers })
      return notModified(ids, headers)
    }
  })
]

/** A text parameter; an empty one counts as absent. */
function text(longest: number) {
  const message = `Must have at most ${longest} characters.`
  return z
    .string(message)
    .refine((value) => codePoints(value) <= longest, message)
    .transform((value) => (value === '' ? undefined : value))
    .optional()
    .meta({ type: 'string', maxLength: longest })
}

/** If-None-Match compares weakly (RFC 9110, 13.1.2): a proxy may have changed our tag into a weak one. */
function isFresh(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.some((tag) => tag === '*' || tag === etag)
}
