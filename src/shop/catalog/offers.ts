import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/database.ts'
import { cachedResponse, earliest } from './cached-responses.ts'
import type { CachedResponse, CatalogShop } from './cached-responses.ts'
import { toCard, isAvailable } from './public/card.ts'
import { viewTerms } from './public/categories.ts'
import type { ViewTerms } from './public/categories.ts'
import type { ProductRow, VariationRow } from './rows.ts'
import { findProducts } from './search/find-products.ts'
import type { ProductSort } from './search/find-products.ts'
import { categoriesOfProduct, productById, tagsOfProduct, variationsOfProduct } from './stored-product.ts'
import { toMajor } from '../../platform/money.ts'
import { currentPrice, nextPriceChange, pricesOf, publicPrices, chooseVariation } from './sellable.ts'
import { imagesOf } from './public/image.ts'
import { variationChoices } from './public/price.ts'
import type { Image, Offer } from './public/shapes.ts'

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

/** A product with everything that its offer shows. */
export type OfferParts = {
  product: ProductRow
  /** The available variations, in their order. */
  variations: VariationRow[]
  categories: string[]
  tags: string[]
  images: Image[]
}

/** The public offer (docs/interface.md 2.6), with the next time at which its price may change. */
export function toOffer(
  { product, variations, categories, tags, images }: OfferParts,
  { currency, lowStock, urlOf }: Pick<ViewTerms, 'currency' | 'lowStock' | 'urlOf'>,
  now: number
): { view: Offer; changesAt: number | null } {
  const price = offerPrice(product, variations, currency, now)
  const view = {
    offerId: `offer-${product.id}`,
    productId: product.id,
    productSlug: product.slug,
    name: product.name,
    description: product.description,
    url: product.url ?? urlOf(product.slug),
    price: price.view,
    categories,
    tags,
    image: images[0] ?? null,
    available: isAvailable(product, variations),
    variationCount: variations.length,
    variations: variationChoices(product, variations, { currency, lowStock }, publicPrices(now))
  }
  return { view, changesAt: price.changesAt }
}

/** The price that an offer shows, and the next time at which it may change. */
export function offerPrice(
  product: ProductRow,
  variations: readonly VariationRow[],
  currency: string,
  now: number
): { view: Offer['price']; changesAt: number | null } {
  const priced = pricesOf(product, chooseVariation(product, variations) ?? null)
  const { unitPriceMinor, originalMinor } = currentPrice(priced, now)
  const view = {
    currency,
    amount: toMajor(unitPriceMinor, currency),
    originalAmount: originalMinor === null ? null : toMajor(originalMinor, currency),
    isOnSale: originalMinor !== null
  }
  return { view, changesAt: nextPriceChange(priced, now) }
}

/** Reads a product with everything that its offer shows. */
export function offerParts(db: Db, product: ProductRow, { publicUrl }: ViewTerms): OfferParts {
  return {
    product,
    variations: variationsOfProduct(db, product.id),
    categories: categoriesOfProduct(db, product.id).map(({ name }) => name),
    tags: tagsOfProduct(db, product.id),
    images: imagesOf(db, { productId: product.id, variationId: null }, publicUrl)
  }
}
