import type { Db } from '../../platform/db/database.ts'
import { rawStatement, rowStatement, rowsStatement } from '../../platform/db/statements.ts'
import { productGrants, products, variations } from './schema.ts'
import type { GrantSpec } from './grants.ts'

// The parts of a product, each read by a statement that is prepared once, because checkouts, imports and exports read
// products one at a time.

/** Finds a product by its id, published or not. */
export const productById = rowStatement(products, 'id = ?')
/** Finds a product by its slug, published or not. */
export const productBySlug = rowStatement(products, 'slug = ?')

/** Finds products by their own SKU. Shops may use one SKU several times. */
export const productsBySku = rowsStatement(products, 'sku = ? LIMIT 2')

/** The available variations in their order; empty for a product without variations. */
export const variationsOfProduct = rowsStatement(variations, 'product_id = ? AND available ORDER BY position, id')
const grantsOf = rowsStatement(productGrants, 'product_id = ? ORDER BY position')

type StoredCategory = { id: number; slug: string; name: string }

const categoriesOf = rawStatement<[number], StoredCategory>(
  `SELECT c.id, c.slug, c.name FROM product_categories pc JOIN categories c ON c.id = pc.category_id
   WHERE pc.product_id = ? ORDER BY pc.position`
)
const tagsOf = rawStatement<[number], string>('SELECT tag FROM product_tags WHERE product_id = ? ORDER BY position')

/** A product's categories in its own order. */
export function categoriesOfProduct(db: Db, productId: number): StoredCategory[] {
  return categoriesOf(db).all(productId)
}

/** Ids of a product's categories, as coupons are scoped by them. */
export function categoryIdsOfProduct(db: Db, productId: number): number[] {
  return categoriesOfProduct(db, productId).map(({ id }) => id)
}

/** A product's tags in its own order. */
export function tagsOfProduct(db: Db, productId: number): string[] {
  return tagsOf(db).pluck().all(productId)
}

/** The benefits that a paid order of this product gives. */
export function grantsOfProduct(db: Db, productId: number): GrantSpec[] {
  return grantsOf(db, productId).map((row) => row.spec)
}
