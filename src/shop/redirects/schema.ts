import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { instant } from '../../platform/db/columns.ts'
import { categories, products } from '../catalog/schema.ts'

/** Addresses of a former shop, or of a product before its slug changed, and where each leads now. */
export const redirects = sqliteTable(
  'redirects',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    /** A path as `redirectKey` writes it. */
    path: text('path').notNull(),
    productId: integer('product_id').references(() => products.id),
    categoryId: integer('category_id').references(() => categories.id),
    /** A path of the site, or an address elsewhere. */
    target: text('target'),
    createdAt: instant('created_at').notNull()
  },
  (t) => [
    uniqueIndex('redirects_path').on(t.path),
    index('redirects_by_product').on(t.productId),
    index('redirects_by_category').on(t.categoryId),
    check(
      'redirects_one_target',
      sql`(${t.productId} IS NOT NULL) + (${t.categoryId} IS NOT NULL) + (${t.target} IS NOT NULL) = 1`
    )
  ]
)
