import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { cachedResponse, earliest } from './cached-responses.ts'
import type { CachedResponse, CatalogShop } from './cached-responses.ts'
import { toOffer } from './offer-view.ts'
import { offerParts } from './products.ts'
import { toCard } from './public/card.ts'
import { viewTerms } from './public/terms.ts'
import type { ViewTerms } from './public/terms.ts'
import type { ProductRow } from './rows.ts'
import { findProducts } from './search/find-products.ts'
import type { ProductSort } from './search/find-products.ts'
import { productById } from './stored-product.ts'

export type OfferQuery = {
  /** Slug or name of a category. Clients of the offers know only the name, because offers show names. */
  category?: string | undefined
  search?: string | undefined
  page: number
  perPage: number
}
export type CardQuery = OfferQuery & {
  /** By default `position`; with a search, by how well a product matches. */
  sort?: ProductSort | undefined
  /** Whether to leave out products that are sold out. */
  availableOnly?: boolean
}

/** A product as a list shows it, and the next time at which it may change by itself. */
type Shown = { view: object; changesAt: number | null }

/**
 * One page of the offers as JSON, from a cache.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE while the commerce module is off
 */
export function listOffers(shop: CatalogShop, query: OfferQuery, now: number): CachedResponse {
  const show = (product: ProductRow, terms: ViewTerms) => toOffer(offerParts(shop.db, product, terms), terms, now)
  return page(shop, 'offers', query, show, now)
}

/**
 * One page of the products as cards, as JSON, from a cache.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE while the commerce module is off
 */
export function listCards(shop: CatalogShop, query: CardQuery, now: number): CachedResponse {
  return page(shop, 'products', query, (product, terms) => toCard(shop.db, product, terms, now), now)
}

function page(
  shop: CatalogShop,
  name: 'offers' | 'products',
  query: CardQuery,
  show: (product: ProductRow, terms: ViewTerms) => Shown,
  now: number
): CachedResponse {
  const { page, perPage, category, search, sort, availableOnly = false } = query
  const key = JSON.stringify([name, page, perPage, category ?? null, search ?? null, sort ?? null, availableOnly])
  const render = () => {
    // A search in the offers is literal (docs/contract.md 5.2).
    const wanted = { text: search, category, sort, literal: name === 'offers', availableOnly, page, perPage }
    const { ids, total } = findProducts(shop.db, wanted, now)
    const terms = viewTerms(shop)
    const shown = ids.flatMap((id) => productById(shop.db, id) ?? []).map((product) => show(product, terms))
    const pagination = { page, perPage, total, totalPages: Math.ceil(total / perPage) }
    const changes = shown.map(({ changesAt }) => changesAt)
    return {
      data: { [name]: shown.map(({ view }) => view), pagination },
      changesAt: earliest(sort === 'price' || sort === '-price' ? [nextSale(shop.db, now), ...changes] : changes)
    }
  }
  return cachedResponse(shop, () => key, render, now)
}

const saleLimits = rawStatement<{ now: number }, number | null>(`
  SELECT min(at) FROM (
    SELECT min(sale_starts_at) AS at FROM products WHERE published = 1 AND sale_starts_at > @now
    UNION ALL SELECT min(sale_ends_at) FROM products WHERE published = 1 AND sale_ends_at > @now
  )`)

/** The next time at which a sale changes the order by price. */
function nextSale(db: Db, now: number): number | null {
  return saleLimits(db).pluck().get({ now }) ?? null
}
