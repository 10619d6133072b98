import type { Db } from '../../platform/db/database.ts'
import { categories } from '../catalog/schema.ts'
import { categoriesOfProduct } from '../catalog/stored-product.ts'

/**
 * Returns a function from a product to the path of its first category, such as `Clothing > Shirts`; empty without a
 * category. A product lists each category after those above it.
 */
export function categoryPaths(db: Db): (productId: number) => string {
  const rows = db.orm.select({ id: categories.id, parentId: categories.parentId }).from(categories).all()
  const parents = new Map(rows.map(({ id, parentId }) => [id, parentId]))
  return (productId) => {
    const listed = categoriesOfProduct(db, productId)
    const end = listed.findIndex(({ id }, index) => index > 0 && parents.get(id) !== listed[index - 1]?.id)
    return listed
      .slice(0, end === -1 ? undefined : end)
      .map(({ name }) => name)
      .join(' > ')
  }
}
