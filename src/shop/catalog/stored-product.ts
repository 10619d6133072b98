import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { rowStatement, statement } from '../../platform/db/statements.ts'
import type { VariationRow } from './rows.ts'
import { categories, productCategories, productGrants, productTags, products, variations } from './schema.ts'
import type { GrantSpec } from './schema.ts'

// A product in its parts, each by a statement that is built once: checkouts, imports and exports read them one by one.

export const productById = rowStatement(products, 'id = ?')
export const productBySlug = rowStatement(products, 'slug = ?')

const availableVariations = statement((orm) =>
  orm
    .select()
    .from(variations)
    .where(and(eq(variations.productId, sql.placeholder('productId')), eq(variations.available, true)))
    .orderBy(asc(variations.position), asc(variations.id))
    .prepare()
)

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

const grantsOf = statement((orm) =>
  orm
    .select({ spec: productGrants.spec })
    .from(productGrants)
    .where(eq(productGrants.productId, sql.placeholder('productId')))
    .orderBy(asc(productGrants.position))
    .prepare()
)

/** Those that can be named in an order, in their order; none for a simple product. */
export function variationsOfProduct(db: Db, productId: number): VariationRow[] {
  return availableVariations(db).all({ productId })
}

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
  return grantsOf(db)
    .all({ productId })
    .map((row) => row.spec)
}
