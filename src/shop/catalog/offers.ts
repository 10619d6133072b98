import { createHash } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { isModuleOn, revisions, setting } from '../settings/settings.ts'
import { BoundedCache } from './bounded-cache.ts'
import { listedProductIds } from './listed-offers.ts'
import type { OfferFilter } from './listed-offers.ts'
import { toOffer } from './offer-view.ts'
import { productUrl } from './product-url.ts'
import { offerParts } from './products.ts'
import { productById } from './stored-product.ts'

export type OfferQuery = OfferFilter & { page: number; perPage: number }

/** The complete response body. Its bytes, and so its strong ETag, are the same until an offer in it changes. */
export type OffersResponse = {
  body: Buffer<ArrayBuffer>
  etag: string
}

/** Valid from `createdAt`, so that a response is rendered again when the clock was set back. */
type CachedResponse = OffersResponse & { createdAt: number; validUntil: number }
type Cache = {
  generation: string
  isOpen: boolean
  responses: BoundedCache<CachedResponse>
  lists: BoundedCache<number[]>
}

const caches = new WeakMap<Db['sqlite'], Cache>()
const responsesLimitBytes = 32 * 1024 * 1024
const listsLimitBytes = 16 * 1024 * 1024

/**
 * One page of the offers that can be bought now, as JSON. Responses and lists of ids are cached. The cache is dropped
 * when any process has changed the catalogue or a setting, and a response expires when a sale in it starts or ends.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE while the commerce module is off
 */
export function listOffers(
  shop: Pick<ShopContext, 'db' | 'publicUrl'>,
  query: OfferQuery,
  now: number
): OffersResponse {
  const { isOpen, responses } = currentCache(shop)
  if (!isOpen) throw new AppError('DEPENDENCY_UNAVAILABLE', 'The shop is closed at the moment.')
  const key = JSON.stringify([query.page, query.perPage, query.category ?? null, query.search ?? null])
  const cached = responses.get(key)
  if (cached !== undefined && cached.createdAt <= now && now < cached.validUntil) return cached
  // One snapshot, so that a response cached under a revision contains exactly that revision.
  return readSnapshot(shop.db, () => {
    const cache = currentCache(shop)
    const response = renderResponse(shop, cache, query, now)
    cache.responses.set(key, response)
    return response
  })
}

function currentCache({ db, publicUrl }: Pick<ShopContext, 'db' | 'publicUrl'>): Cache {
  const { catalog, settings } = revisions(db)
  const generation = `${catalog} ${settings} ${publicUrl()}`
  const known = caches.get(db.sqlite)
  if (known?.generation === generation) return known
  const fresh = {
    generation,
    isOpen: isModuleOn(db, 'commerce'),
    responses: new BoundedCache<CachedResponse>(responsesLimitBytes, ({ body }) => body.length + 500),
    lists: new BoundedCache<number[]>(listsLimitBytes, (ids) => 8 * ids.length + 400)
  }
  caches.set(db.sqlite, fresh)
  return fresh
}

function renderResponse(
  shop: Pick<ShopContext, 'db' | 'publicUrl'>,
  cache: Cache,
  query: OfferQuery,
  now: number
): CachedResponse {
  const { page, perPage } = query
  const ids = idsOf(shop.db, cache, query)
  const terms = { currency: setting(shop.db, 'shop.currency'), urlOf: productUrl(shop) }
  const views = ids
    .slice((page - 1) * perPage, page * perPage)
    .flatMap((id) => productById(shop.db, id) ?? [])
    .map((product) => toOffer(offerParts(shop.db, product), terms, now))
  const pagination = { page, perPage, total: ids.length, totalPages: Math.ceil(ids.length / perPage) }
  const body = Buffer.from(JSON.stringify({ data: { offers: views.map(({ offer }) => offer), pagination }, meta: {} }))
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
  const validUntil = Math.min(...views.map(({ changesAt }) => changesAt ?? Infinity))
  return { body, etag, createdAt: now, validUntil }
}

function idsOf(db: Db, cache: Cache, { category, search }: OfferFilter): number[] {
  const key = JSON.stringify([category ?? null, search ?? null])
  const cached = cache.lists.get(key)
  if (cached !== undefined) return cached
  const ids = listedProductIds(db, { category, search })
  // Not cached when empty: clients can send endless different searches without a result, and there is no second page.
  if (ids.length > 0) cache.lists.set(key, ids)
  return ids
}
