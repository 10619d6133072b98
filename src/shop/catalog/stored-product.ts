import { asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { rowStatement, rowsStatement, statement } from '../../platform/db/statements.ts'
import { categories, productCategories, productGrants, productTags, products, variations } from './schema.ts'
import type { GrantSpec } from './schema.ts'

// A product in its parts, each by a statement that is built once: checkouts, imports and exports read them one by one.

export const productById = rowStatement(products, 'id = ?')
export const productBySlug = rowStatement(products, 'slug = ?')

/** Those that can be named in an order, in their order; none for a simple product. */
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

export function categoriesOfProduct(db: Db, productId: number): { id: number; slug: string; name: string }[] {
  return categoriesOf(db).all({ productId })
}

export function categoryIdsOfProduct(db: Db, productId: number): number[] {
  return categoriesOfProduct(db, productId).map(({ id }) => id)
}

export function tagsOfProduct(db: Db, productId: number): string[] {
  return tagsOf(db)
    .all({ productId })
    .map((row) => row.tag)
}

export function grantsOfProduct(db: Db, productId: number): GrantSpec[] {
  return grantsOf(db, productId).map((row) => row.spec)
}
