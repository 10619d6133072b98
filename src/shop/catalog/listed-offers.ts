import { rawStatement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { slugFor } from './import/slug.ts'
import { toSearchQuery } from './search-query.ts'

export type OfferFilter = {
  /** Slug of a category; its name finds it too, since that is what offers show. */
  category?: string | undefined
  search?: string | undefined
}

// Published, and there is a unit to sell: of the product, or of one of its available variations when it has any.
const buyable = `
  p.published = 1 AND CASE
    WHEN EXISTS (SELECT 1 FROM variations v WHERE v.product_id = p.id AND v.available = 1) THEN EXISTS (
      SELECT 1 FROM variations v WHERE v.product_id = p.id AND v.available = 1 AND coalesce(v.stock, p.stock, 1) > 0
    )
    ELSE coalesce(p.stock, 1) > 0
  END`
const inCategory = `
  EXISTS (
    SELECT 1 FROM product_categories pc JOIN categories c ON c.id = pc.category_id
    WHERE pc.product_id = p.id AND c.slug = ?
  )`
const found = `
  FROM products_search JOIN products p ON p.id = products_search.rowid
  WHERE products_search MATCH ? AND ${buyable}`
// A hit in the name counts most, then one in the tags; equals stand in the shop's order.
const bestFirst = 'ORDER BY bm25(products_search, 10.0, 1.0, 5.0), p.position, p.id'

const all = rawStatement<[], number>(`SELECT p.id FROM products p WHERE ${buyable} ORDER BY p.position, p.id`)
// CROSS JOIN keeps SQLite from walking all products in their order and asking each for its categories.
const ofCategory = rawStatement<[string], number>(`
  SELECT p.id FROM product_categories pc CROSS JOIN products p ON p.id = pc.product_id
  WHERE pc.category_id = (SELECT id FROM categories WHERE slug = ?) AND ${buyable} ORDER BY p.position, p.id`)
const ofSearch = rawStatement<[string], number>(`SELECT p.id ${found} ${bestFirst}`)
const ofBoth = rawStatement<[string, string], number>(`SELECT p.id ${found} AND ${inCategory} ${bestFirst}`)

/** Ids of all products that can be bought and that the filter lets through, in the order in which they are offered. */
export function listedProductIds(db: Db, { category, search }: OfferFilter): number[] {
  const slug = category === undefined ? undefined : slugFor(category)
  if (search === undefined) {
    return slug === undefined ? all(db).pluck().all() : ofCategory(db).pluck().all(slug)
  }
  const query = toSearchQuery(search)
  if (query === undefined) return []
  return slug === undefined ? ofSearch(db).pluck().all(query) : ofBoth(db).pluck().all(query, slug)
}
