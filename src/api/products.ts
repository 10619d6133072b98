import { z } from 'zod'
import { queryInteger } from '../platform/http/validation.ts'
import { grantText } from '../shop/benefits/kinds.ts'
import { listCards, listOffers } from '../shop/catalog/offers.ts'
import { categoriesResponse } from '../shop/catalog/public/categories.ts'
import { productResponse } from '../shop/catalog/public/product.ts'
import { productSorts as sorts } from '../shop/catalog/search/find-products.ts'
import { categoriesData, offersData, productData, productsData } from '../shop/catalog/public/shapes.ts'
import { ownPrices, ownPricesData } from '../shop/groups/own-prices.ts'
import { findRedirect } from '../shop/redirects/redirects.ts'
import { cachedAnswer, conditionalHeaders, sharedCaching, textParameter } from './reply.ts'
import { forUsers, route } from './route.ts'
import type { Route } from './route.ts'

const redirectData = z
  .object({
    to: z
      .string()
      .nullable()
      .meta({ description: 'A path of the site or an address; null for none.', example: '/products/mug' })
  })
  .meta({ id: 'Redirect' })

/** What the routes of the catalog have in common: everyone reads the same, and caches may carry it. */
const open = {
  method: 'GET',
  headers: conditionalHeaders,
  session: 'none',
  nonce: 'never',
  cache: 'public',
  invalid: 422
} as const

const sortRule = `Must be ${sorts.slice(0, -1).join(', ')} or ${sorts.at(-1)}.`

export const productRoutes: Route[] = [
  route({
    ...open,
    path: '/store/products',
    summary: 'The products of the shop, by category and search',
    answers: [{ data: productsData, meta: 'empty' }],
    refuses: ['DEPENDENCY_UNAVAILABLE'],
    proxy: { nonce: false, query: ['page', 'perPage', 'category', 'search', 'available', 'sort'] },
    query: z.object({
      page: queryInteger({ min: 1, max: 1_000_000, default: 1 }),
      perPage: queryInteger({ min: 1, max: 100, default: 24 }),
      category: textParameter(255),
      search: textParameter(100),
      available: z
        .literal('true', 'Must be true, or be left out.')
        .optional()
        .meta({ description: 'Leaves out products that are sold out.' }),
      sort: z.enum(sorts, sortRule).optional().meta({
        description:
          'Default position, the order of the shop with sold-out products last. The results of a search have the best ones first by default.'
      })
    }),
    handler: (call, { query: { available, ...query } }) => {
      const wanted = { ...query, availableOnly: available === 'true' }
      return cachedAnswer(call, listCards(call.shop, wanted, call.now), sharedCaching)
    }
  }),
  route({
    ...open,
    path: '/store/products/{slug}',
    params: z.object({ slug: z.string().meta({ example: 'harbour-lantern' }) }),
    summary: 'One product with its variations, pictures and description',
    answers: [{ data: productData, meta: 'empty' }],
    refuses: ['NOT_FOUND', 'DEPENDENCY_UNAVAILABLE'],
    proxy: { nonce: false, query: [] },
    handler: (call, { params }) =>
      cachedAnswer(call, productResponse(call.shop, params.slug, grantText, call.now), sharedCaching)
  }),
  route({
    ...open,
    path: '/store/categories',
    summary: 'The categories with products, parents before children',
    answers: [{ data: categoriesData, meta: 'empty' }],
    refuses: ['DEPENDENCY_UNAVAILABLE'],
    proxy: { nonce: false, query: [] },
    handler: (call) => cachedAnswer(call, categoriesResponse(call.shop, call.now), sharedCaching)
  }),
  route({
    method: 'GET',
    path: '/store/redirects',
    summary: 'Where an address that the site does not know leads now',
    answers: [{ data: redirectData }],
    refuses: ['DEPENDENCY_UNAVAILABLE'],
    session: 'none',
    nonce: 'never',
    proxy: { nonce: false, query: ['path'] },
    invalid: 422,
    query: z.object({
      path: z
        .string('Is required.')
        .min(1, 'Is required.')
        .max(2000, 'Must be at most 2000 characters.')
        .meta({ description: 'The path with its query.', example: '/product/old-mug/' })
    }),
    handler: ({ shop }, { query: { path } }) => ({ data: { to: findRedirect(shop, path) ?? null } })
  })
]

/** What each buyer pays: no cache keeps it, and the lists of products do not contain it. */
export const ownPriceRoutes = [
  route({
    method: 'GET',
    path: '/me/prices',
    summary: 'What products cost the logged-in customer, whose group has prices of its own',
    answers: [{ data: ownPricesData }],
    refuses: [],
    ...forUsers,
    proxy: { nonce: true, query: ['products'] },
    query: z.object({
      products: z
        .string('Is required.')
        .regex(/^\d{1,15}(,\d{1,15}){0,99}$/, 'Must be 1 to 100 ids of products, separated by commas.')
        .meta({ description: 'The ids of 1 to 100 products, separated by commas.', example: '1,2,3' })
    }),
    handler: ({ shop, identity, now }, { query }) => ({
      data: ownPrices(shop.db, identity.user, query.products.split(',').map(Number), now)
    })
  })
]

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
      // Through the proxy, which drops the query, a site sees a whole small catalog.
      perPage: queryInteger({ min: 1, max: 100, default: 100 }),
      category: textParameter(255),
      search: textParameter(100)
    }),
    handler: (call, { query }) => cachedAnswer(call, listOffers(call.shop, query, call.now), sharedCaching)
  })
]
