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

/** A whole answer as it leaves: the same bytes, and so the same strong ETag, until an offer in it changes. */
export type OffersResponse = {
  body: Buffer<ArrayBuffer>
  etag: string
}

/** A clock that was set back makes an answer anew as well. */
type Kept = OffersResponse & { madeAt: number; validUntil: number }
type Memory = { generation: string; isOpen: boolean; answers: BoundedCache<Kept>; lists: BoundedCache<number[]> }

const memories = new WeakMap<Db['sqlite'], Memory>()
const answersLimitBytes = 32 * 1024 * 1024
const listsLimitBytes = 16 * 1024 * 1024

/**
 * The offers that can be bought now, a page of them, as JSON. Answers and the order of offers are kept in memory; they
 * are dropped as soon as any process has changed the catalogue or a setting, and an answer is made anew when a sale in
 * it begins or ends.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE while the commerce module is off.
 */
export function listOffers(
  shop: Pick<ShopContext, 'db' | 'publicUrl'>,
  query: OfferQuery,
  now: number
): OffersResponse {
  const { isOpen, answers } = memoryOf(shop)
  if (!isOpen) throw new AppError('DEPENDENCY_UNAVAILABLE', 'The shop is closed at the moment.')
  const key = JSON.stringify([query.page, query.perPage, query.category ?? null, query.search ?? null])
  const known = answers.get(key)
  if (known !== undefined && known.madeAt <= now && now < known.validUntil) return known
  // One snapshot, so that what is kept under a revision is what that revision holds.
  return readSnapshot(shop.db, () => {
    const memory = memoryOf(shop)
    const answer = makeAnswer(shop, memory, query, now)
    memory.answers.set(key, answer)
    return answer
  })
}

function memoryOf({ db, publicUrl }: Pick<ShopContext, 'db' | 'publicUrl'>): Memory {
  const { catalog, settings } = revisions(db)
  const generation = `${catalog} ${settings} ${publicUrl()}`
  const known = memories.get(db.sqlite)
  if (known?.generation === generation) return known
  const fresh = {
    generation,
    isOpen: isModuleOn(db, 'commerce'),
    answers: new BoundedCache<Kept>(answersLimitBytes, ({ body }) => body.length + 500),
    lists: new BoundedCache<number[]>(listsLimitBytes, (ids) => 8 * ids.length + 400)
  }
  memories.set(db.sqlite, fresh)
  return fresh
}

function makeAnswer(shop: Pick<ShopContext, 'db' | 'publicUrl'>, memory: Memory, query: OfferQuery, now: number): Kept {
  const { page, perPage } = query
  const ids = idsOf(shop.db, memory, query)
  const terms = { currency: setting(shop.db, 'shop.currency'), urlOf: productUrl(shop) }
  const views = ids
    .slice((page - 1) * perPage, page * perPage)
    .flatMap((id) => productById(shop.db, id) ?? [])
    .map((product) => toOffer(offerParts(shop.db, product), terms, now))
  const pagination = { page, perPage, total: ids.length, totalPages: Math.ceil(ids.length / perPage) }
  const body = Buffer.from(JSON.stringify({ data: { offers: views.map(({ offer }) => offer), pagination }, meta: {} }))
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
  const validUntil = Math.min(...views.map(({ changesAt }) => changesAt ?? Infinity))
  return { body, etag, madeAt: now, validUntil }
}

function idsOf(db: Db, memory: Memory, { category, search }: OfferFilter): number[] {
  const key = JSON.stringify([category ?? null, search ?? null])
  const known = memory.lists.get(key)
  if (known !== undefined) return known
  const ids = listedProductIds(db, { category, search })
  // There is no end of searches that find nothing, and no second page of one.
  if (ids.length > 0) memory.lists.set(key, ids)
  return ids
}
