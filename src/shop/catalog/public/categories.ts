import { and, eq, max, sql } from 'drizzle-orm'
import { statement } from '../../../platform/db/database.ts'
import type { Db } from '../../../platform/db/database.ts'
import { toIso } from '../../../platform/iso-time.ts'
import { categories, media, productCategories, products } from '../schema.ts'
import { cachedResponse } from '../cached-responses.ts'
import type { CachedResponse, CatalogShop } from '../cached-responses.ts'
import { countInCategory, firstImageInCategory } from '../search/find-products.ts'
import { imageOfRow } from './image.ts'
import type { Image, PublicCategory } from './shapes.ts'
import type { ShopContext } from '../../context.ts'
import { setting } from '../../settings/settings.ts'
import { productUrl } from '../product-url.ts'

/**
 * The categories with published products as JSON, from a cache: each one after its parent, and siblings by name.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE while the commerce module is off
 */
export function categoriesResponse(shop: CatalogShop, now: number): CachedResponse {
  const render = () => ({ data: { categories: listCategories(shop) }, changesAt: null })
  return cachedResponse(shop, () => 'categories', render, now)
}

function listCategories(shop: CatalogShop): PublicCategory[] {
  const counted = shop.db.orm
    .select()
    .from(categories)
    .orderBy(categories.name, categories.id)
    .all()
    .map((row) => ({ ...row, productCount: countInCategory(shop.db, row.id) }))
  const rows = counted.filter(({ productCount }) => productCount > 0)
  const imageOf = imagesFrom(shop)
  const byId = new Map(rows.map((row) => [row.id, row]))
  const below = Map.groupBy(rows, ({ parentId }) => (parentId !== null && byId.has(parentId) ? parentId : null))
  const walk = (parentId: number | null): PublicCategory[] =>
    (below.get(parentId) ?? []).flatMap(({ id, slug, name, description, productCount }) => {
      const parent = (parentId === null ? undefined : byId.get(parentId)?.slug) ?? null
      const updatedAt = toIso(changeInCategory(shop.db, id))
      return [{ slug, name, description, parent, productCount, image: imageOf(id), updatedAt }, ...walk(id)]
    })
  return walk(null)
}

const lastChange = statement((orm) =>
  orm
    .select({ at: max(products.updatedAt) })
    .from(productCategories)
    .innerJoin(products, eq(products.id, productCategories.productId))
    .where(and(eq(productCategories.categoryId, sql.placeholder('categoryId')), eq(products.published, true)))
    .prepare()
)

/** When a published product of a category last changed; 0 without products. */
function changeInCategory(db: Db, categoryId: number): number {
  return lastChange(db).get({ categoryId })?.at ?? 0
}

/** The picture of a category. Without this check, a shop without pictures would look for one in each of its products. */
function imagesFrom({ db, publicUrl }: CatalogShop): (categoryId: number) => Image | null {
  if (db.orm.select({ hash: media.hash }).from(media).limit(1).get() === undefined) return () => null
  return (categoryId) => {
    const id = firstImageInCategory(db, categoryId)
    return id === undefined ? null : imageOfRow(db, { id }, publicUrl())
  }
}

/** What the public views of a product need beyond its rows. */
export type ViewTerms = {
  currency: string
  /** The page of a product without a URL of its own. */
  urlOf: (slug: string) => string
  /** The base of picture addresses, without a trailing slash. */
  publicUrl: string
  /** Buyers see how many units are left at or below this number. */
  lowStock: number
}

/** The terms by the settings of the shop. */
export function viewTerms(shop: Pick<ShopContext, 'db' | 'publicUrl'>): ViewTerms {
  return {
    currency: setting(shop.db, 'shop.currency'),
    urlOf: productUrl(shop),
    publicUrl: shop.publicUrl(),
    lowStock: setting(shop.db, 'store.lowStock')
  }
}
