import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'

const inUse = rawStatement<[], { slug: string; name: string }>(`
  SELECT c.slug, c.name FROM categories c
  WHERE EXISTS (
    SELECT 1 FROM product_categories pc JOIN products p ON p.id = pc.product_id
    WHERE pc.category_id = c.id AND p.published = 1
  )
  ORDER BY c.name, c.id`)

/** The categories with at least one published product, ordered by name. */
export function listCategories(db: Db): { slug: string; name: string }[] {
  return inUse(db).all()
}
