import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import type { GrantSpec } from './grants.ts'
import type { ProductRow, VariationRow } from './rows.ts'
import { categories, productCategories, productGrants, products, productTags, variations } from './schema.ts'

// The parts of a product, each read by a statement that is prepared once, because checkouts, imports and exports read
// products one at a time.

const productId = sql.placeholder('productId')

const byId = statement((orm) => orm.select().from(products).where(eq(products.id, productId)).prepare())
const bySlug = statement((orm) =>
  orm
    .select()
    .from(products)
    .where(eq(products.slug, sql.placeholder('slug')))
    .prepare()
)
const bySku = statement((orm) =>
  orm
    .select()
    .from(products)
    .where(eq(products.sku, sql.placeholder('sku')))
    .limit(2)
    .prepare()
)
const variationsOf = statement((orm) =>
  orm
    .select()
    .from(variations)
    .where(and(eq(variations.productId, productId), eq(variations.available, true)))
    .orderBy(variations.position, variations.id)
    .prepare()
)
const variationOfId = statement((orm) =>
  orm
    .select()
    .from(variations)
    .where(eq(variations.id, sql.placeholder('variationId')))
    .prepare()
)
const categoriesOf = statement((orm) =>
  orm
    .select({ id: categories.id, slug: categories.slug, name: categories.name })
    .from(productCategories)
    .innerJoin(categories, eq(categories.id, productCategories.categoryId))
    .where(eq(productCategories.productId, productId))
    .orderBy(productCategories.position)
    .prepare()
)
const tagsOf = statement((orm) =>
  orm
    .select({ tag: productTags.tag })
    .from(productTags)
    .where(eq(productTags.productId, productId))
    .orderBy(productTags.position)
    .prepare()
)
const grantsOf = statement((orm) =>
  orm
    .select({ spec: productGrants.spec })
    .from(productGrants)
    .where(eq(productGrants.productId, productId))
    .orderBy(productGrants.position)
    .prepare()
)

/** Finds a product by its id, published or not. */
export function productById(db: Db, productId: number): ProductRow | undefined {
  return byId(db).get({ productId })
}

/** Finds a product by its slug, published or not. */
export function productBySlug(db: Db, slug: string): ProductRow | undefined {
  return bySlug(db).get({ slug })
}

/** Finds at most two products by their own SKU. Shops may use one SKU several times. */
export function productsBySku(db: Db, sku: string): ProductRow[] {
  return bySku(db).all({ sku })
}

/** Finds a variation by its id, available or not. */
export function variationById(db: Db, variationId: number): VariationRow | undefined {
  return variationOfId(db).get({ variationId })
}

/** The available variations in their order; empty for a product without variations. */
export function variationsOfProduct(db: Db, productId: number): VariationRow[] {
  return variationsOf(db).all({ productId })
}

/** A product's categories in its own order. */
export function categoriesOfProduct(db: Db, productId: number): { id: number; slug: string; name: string }[] {
  return categoriesOf(db).all({ productId })
}

/** Ids of a product's categories, as coupons are scoped by them. */
export function categoryIdsOfProduct(db: Db, productId: number): number[] {
  return categoriesOfProduct(db, productId).map(({ id }) => id)
}

/** A product's tags in its own order. */
export function tagsOfProduct(db: Db, productId: number): string[] {
  return tagsOf(db)
    .all({ productId })
    .map((row) => row.tag)
}

/** The benefits that a paid order of this product gives. */
export function grantsOfProduct(db: Db, productId: number): GrantSpec[] {
  return grantsOf(db)
    .all({ productId })
    .map((row) => row.spec)
}
