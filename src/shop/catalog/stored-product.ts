import { asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { rowStatement, rowsStatement, statement } from '../../platform/db/statements.ts'
import { categories, productCategories, productGrants, productTags, products, variations } from './schema.ts'
import type { GrantSpec } from './grants.ts'

// The parts of a product, each read by a statement that is prepared once, because checkouts, imports and exports read
// products one at a time.

/** Finds a product by its id, published or not. */
export const productById = rowStatement(products, 'id = ?')
/** Finds a product by its slug, published or not. */
export const productBySlug = rowStatement(products, 'slug = ?')

/** The available variations in their order; empty for a product without variations. */
export const variationsOfProduct = rowsStatement(variations, 'product_id = ? AND available ORDER BY position, id')
const grantsOf = rowsStatement(productGrants, 'product_id = ? ORDER BY position')

const categoriesOf = statement((orm) =>
  orm
    .select({ id: categories.id, slug: categories.slug, name: categories.name })
    .from(productCategories)
    .innerJoin(categories, eq(categories.id, productCategories.categoryId))
    .where(eq(productCategories.productId, sql.placeholder('productId')))
    .orderBy(asc(productCategories.position))
    .prepare()
)

const tagsOf = statement((orm) =>
  orm
    .select({ tag: productTags.tag })
    .from(productTags)
    .where(eq(productTags.productId, sql.placeholder('productId')))
    .orderBy(asc(productTags.position))
    .prepare()
)

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
  return grantsOf(db, productId).map((row) => row.spec)
}
