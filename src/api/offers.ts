import { z } from 'zod'
import { queryInteger } from '../platform/http/validation.ts'
import { listOffers } from '../shop/catalog/offers.ts'
import { offersData } from './answers/store.ts'
import { cachedAnswer, conditionalHeaders, sharedCaching, textParameter } from './cached-answer.ts'
import { route } from './route.ts'
import type { Route } from './route.ts'

export const offerRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/store/offers',
    summary: 'The products of the shop in short, by category and search',
    answers: [{ data: offersData, meta: 'empty' }],
    refuses: ['DEPENDENCY_UNAVAILABLE'],
    headers: conditionalHeaders,
    session: 'none',
    nonce: 'never',
    proxy: { nonce: false, query: [] },
    cache: 'public',
    invalid: 400,
    query: z.object({
      page: queryInteger({ min: 1, max: 1_000_000, default: 1 }),
      // Through the proxy, which drops the query, a site sees a whole small catalogue.
      perPage: queryInteger({ min: 1, max: 100, default: 100 }),
      category: textParameter(255),
      search: textParameter(100)
    }),
    handler: (call, { query }) => cachedAnswer(call, listOffers(call.shop, query, call.now), sharedCaching)
  })
]
