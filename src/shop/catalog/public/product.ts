import { and, eq, sql } from 'drizzle-orm'
import { AppError } from '../../../errors.ts'
import { statement } from '../../../platform/db/database.ts'
import type { Db } from '../../../platform/db/database.ts'
import { setting } from '../../settings/settings.ts'
import { cachedResponse } from '../cached-responses.ts'
import type { CachedResponse, CatalogShop } from '../cached-responses.ts'
import type { GrantSpec } from '../grants.ts'
import { needsShipping } from '../product-types.ts'
import type { ProductRow, VariationRow } from '../rows.ts'
import { effectiveStock, totalStock } from '../stock.ts'
import { products, variations } from '../schema.ts'
import { grantsOfProduct, productBySlug, tagsOfProduct, variationsOfProduct } from '../stored-product.ts'
import { optionsOf } from '../grants.ts'
import { toCard } from './card.ts'
import { imagesOf } from './image.ts'
import { lowOnly, priceOf } from './price.ts'
import type { PublicGrant, PublicProduct, PublicVariation } from './shapes.ts'
import { viewTerms } from './categories.ts'
import type { ViewTerms } from './categories.ts'

/**
 * A published product as JSON, from a cache.
 *
 * @param textOf describes a grant for buyers
 * @throws AppError NOT_FOUND for an unknown or unpublished product, DEPENDENCY_UNAVAILABLE while the commerce module is
 *   off
 */
export function productResponse(
  shop: CatalogShop,
  slug: string,
  textOf: (db: Db, grant: GrantSpec) => string,
  now: number
): CachedResponse {
  const { db } = shop
  // Sales change the stock without changing a revision, so the stock that buyers see is a part of the response's key.
  const keyOf = () => {
    const stock = stockStamp(db, { slug, limit: setting(db, 'store.lowStock') + 1 })
    if (stock === undefined) throw new AppError('NOT_FOUND', 'There is no such product.')
    return `product ${slug} ${stock}`
  }
  const render = () => {
    const row = productBySlug(db, slug)
    if (row === undefined) throw new AppError('NOT_FOUND', 'There is no such product.')
    const { view, changesAt } = toPublicProduct(db, row, { ...viewTerms(shop), textOf }, now)
    return { data: { product: view }, changesAt }
  }
  return cachedResponse(shop, keyOf, render, now)
}

type ProductTerms = ViewTerms & { textOf: (db: Db, grant: GrantSpec) => string }

function toPublicProduct(
  db: Db,
  product: ProductRow,
  terms: ProductTerms,
  now: number
): { view: PublicProduct; changesAt: number | null } {
  const { view: card, changesAt } = toCard(db, product, terms, now)
  const { id, sku, brand, gtin, mpn, unitMeasure, description, descriptionHtml, type, weightGrams } = product
  const { manufacturer, responsiblePerson, safetyInfo } = product
  const { lengthMm, widthMm, heightMm, seoTitle, seoDescription } = product
  const variations = variationsOfProduct(db, id)
  const view = {
    ...card,
    sku,
    brand,
    gtin,
    mpn,
    manufacturer,
    responsiblePerson,
    safetyInfo,
    unitMeasure,
    description,
    descriptionHtml,
    seo: { title: seoTitle, description: seoDescription },
    tags: tagsOfProduct(db, id),
    images: imagesOf(db, { productId: id, variationId: null }, terms.publicUrl),
    options: optionsOf(variations),
    variations: variations.map((variation) => toPublicVariation(db, product, variation, terms, now)),
    grants: grantsOfProduct(db, id).map((grant) => toPublicGrant(db, grant, terms)),
    requiresShipping: needsShipping([{ type }]),
    weightGrams,
    dimensions: { lengthMm, widthMm, heightMm },
    stockLeft: lowOnly(totalStock(product, variations), terms)
  }
  return { view, changesAt }
}

function toPublicVariation(
  db: Db,
  product: ProductRow,
  variation: VariationRow,
  terms: ViewTerms,
  now: number
): PublicVariation {
  const { id, sku, name, options, gtin, mpn, unitMeasure, weightGrams, isDefault } = variation
  const stock = effectiveStock(product, variation)
  return {
    variationId: id,
    sku,
    name,
    options,
    price: priceOf(db, product, variation, terms.currency, now),
    available: stock !== 0,
    stockLeft: lowOnly(stock, terms),
    image: imagesOf(db, { productId: product.id, variationId: id }, terms.publicUrl)[0] ?? null,
    gtin,
    mpn,
    unitMeasure,
    weightGrams,
    isDefault
  }
}

/** A grant without its file, because the path is the operator's business. */
function toPublicGrant(db: Db, grant: GrantSpec, { textOf }: ProductTerms): PublicGrant {
  const { kind, ...fields } = grant
  const shown = Object.entries(fields).filter(([name]) => name !== 'file')
  return { kind, text: textOf(db, grant), ...Object.fromEntries(shown) }
}

const limit = sql.placeholder('limit')
const readStamp = statement((orm) => {
  const ofVariations = orm
    .select({ stocks: sql`group_concat(coalesce(min(${variations.stock}, ${limit}), ''))`.as('stocks') })
    .from(variations)
    .where(and(eq(variations.productId, products.id), eq(variations.available, true)))
  return orm
    .select({
      stamp: sql<string>`coalesce(min(${products.stock}, ${limit}), '') || ':' || coalesce(${ofVariations}, '')`
    })
    .from(products)
    .where(and(eq(products.slug, sql.placeholder('slug')), eq(products.published, true)))
    .prepare()
})

/**
 * The stock of a published product and its available variations, as text that changes whenever buyers see another stock.
 * Stock above `limit` counts as `limit`.
 *
 * @returns undefined for an unknown or unpublished product
 */
function stockStamp(db: Db, product: { slug: string; limit: number }): string | undefined {
  return readStamp(db).get(product)?.stamp
}
