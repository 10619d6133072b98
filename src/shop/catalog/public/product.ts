import { AppError } from '../../../errors.ts'
import type { Db } from '../../../platform/db/database.ts'
import { toIso } from '../../../platform/iso-time.ts'
import { setting } from '../../settings/settings.ts'
import { cachedResponse, BoundedCache } from '../cached-responses.ts'
import type { CachedResponse, CatalogShop } from '../cached-responses.ts'
import type { GrantSpec } from '../grants.ts'
import { needsShipping } from '../product-types.ts'
import type { ProductRow, VariationRow } from '../rows.ts'
import { effectiveStock } from '../stock.ts'
import { grantsOfProduct, productBySlug, tagsOfProduct, variationsOfProduct } from '../stored-product.ts'
import { optionsOf } from '../grants.ts'
import { toCard } from './card.ts'
import { imagesOf } from './image.ts'
import { priceOf } from './price.ts'
import type { PublicGrant, PublicProduct, PublicVariation } from './shapes.ts'
import { viewTerms } from './categories.ts'
import type { ViewTerms } from './categories.ts'
import { oncePerTurn } from '../../../platform/once-for.ts'
import { rawStatement } from '../../../platform/db/database.ts'

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
  const { id, sku, brand, gtin, description, descriptionHtml, type, weightGrams, updatedAt } = product
  const { lengthMm, widthMm, heightMm, seoTitle, seoDescription } = product
  const variations = variationsOfProduct(db, id)
  const view = {
    ...card,
    sku,
    brand,
    gtin,
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
    stockLeft: lowOnly(totalStock(product, variations), terms),
    updatedAt: toIso(updatedAt)
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
  const { id, sku, name, options, gtin, weightGrams, isDefault } = variation
  const stock = effectiveStock(product, variation)
  return {
    variationId: id,
    sku,
    name,
    options,
    price: priceOf(product, variation, terms.currency, now),
    available: stock !== 0,
    stockLeft: lowOnly(stock, terms),
    image: imagesOf(db, { productId: product.id, variationId: id }, terms.publicUrl)[0] ?? null,
    gtin,
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

function lowOnly(stock: number | null, { lowStock }: ViewTerms): number | null {
  return stock !== null && stock <= lowStock ? stock : null
}

/** The units of all variations together; null when one of them is not counted. Variations may share the product's stock. */
function totalStock(product: ProductRow, variations: readonly VariationRow[]): number | null {
  const own = variations.flatMap(({ stock }) => stock ?? [])
  const sharing = variations.length === 0 || own.length < variations.length
  if (sharing && product.stock === null) return null
  return own.reduce((sum, stock) => sum + stock, sharing ? (product.stock ?? 0) : 0)
}

type Stamped = { slug: string; limit: number }

const readStamp = rawStatement<Stamped, string>(`
  SELECT coalesce(min(p.stock, @limit), '') || ':' || coalesce((
    SELECT group_concat(coalesce(min(v.stock, @limit), '')) FROM variations v
    WHERE v.product_id = p.id AND v.available = 1
  ), '')
  FROM products p WHERE p.slug = @slug AND p.published = 1`)

const changesByOthers = rawStatement<[], number>('PRAGMA data_version')
const ownChanges = rawStatement<[], number>('SELECT total_changes()')

/**
 * Differs after every commit. `data_version` counts the commits of other connections, also of other processes, and
 * `total_changes` the rows that this connection has changed (https://www.sqlite.org/pragma.html#pragma_data_version).
 */
const databaseVersion = oncePerTurn((db: Db) => `${changesByOthers(db).pluck().get()} ${ownChanges(db).pluck().get()}`)

const caches = new WeakMap<Db['sqlite'], { version: string; stamps: BoundedCache<string> }>()
const stampsLimitBytes = 1024 * 1024

/**
 * The stock of a published product and its available variations, as text that changes whenever buyers see another stock.
 * Stock above `limit` counts as `limit`. It is read again only after a change of the database, because the read costs as
 * much as a fifth of the whole request.
 *
 * @returns undefined for an unknown or unpublished product
 */
export function stockStamp(db: Db, product: Stamped): string | undefined {
  // The state of a transaction may be older than the version, or may be rolled back.
  if (db.sqlite.inTransaction) return readStamp(db).pluck().get(product)
  const stamps = currentStamps(db)
  const key = `${product.limit} ${product.slug}`
  const known = stamps.get(key)
  if (known !== undefined) return known
  const stamp = readStamp(db).pluck().get(product)
  if (stamp !== undefined) stamps.set(key, stamp)
  return stamp
}

function currentStamps(db: Db): BoundedCache<string> {
  const version = databaseVersion(db)
  const known = caches.get(db.sqlite)
  if (known?.version === version) return known.stamps
  const stamps = new BoundedCache<string>(stampsLimitBytes, (stamp) => 2 * stamp.length)
  caches.set(db.sqlite, { version, stamps })
  return stamps
}
