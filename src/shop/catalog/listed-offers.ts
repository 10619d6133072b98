import type Database from 'better-sqlite3'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { slugFor } from './import/slug.ts'
import { parseSearch } from './search-query.ts'

export type OfferFilter = {
  /** Slug or name of a category. Clients know only the name, because offers show names. */
  category?: string | undefined
  search?: string | undefined
}

// Published and in stock. With variations, at least one available variation must be in stock.
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
const hasWords = 'products_search MATCH ?'
// The LIMIT keeps SQLite from computing the compare_key of a product's text again for each literal.
const hasLiterals = `
  NOT EXISTS (
    SELECT 1 FROM (SELECT compare_key(s.name || ' ' || s.description || ' ' || s.tags) AS text LIMIT 1) CROSS JOIN json_each(?)
    WHERE instr(text, value) = 0
  )`
const inOrder = 'ORDER BY p.position, p.id'

const all = rawStatement<[], number>(`SELECT p.id FROM products p WHERE ${buyable} ${inOrder}`)
// CROSS JOIN makes SQLite start from the category instead of scanning all products in their order.
const ofCategory = rawStatement<[string], number>(`
  SELECT p.id FROM product_categories pc CROSS JOIN products p ON p.id = pc.product_id
  WHERE pc.category_id = (SELECT id FROM categories WHERE slug = ?) AND ${buyable} ${inOrder}`)
/** Search statements by their conditions. */
const searches = new Map<string, (db: Db) => Database.Statement<string[], number>>()

/** Ids of all products that can be bought and match the filter, in the shop's order. */
export function listedProductIds(db: Db, { category, search }: OfferFilter): number[] {
  const slug = category === undefined ? undefined : slugFor(category)
  if (search === undefined) {
    return slug === undefined ? all(db).pluck().all() : ofCategory(db).pluck().all(slug)
  }
  const { words, literals } = parseSearch(search)
  if (words === undefined && literals.length === 0) return []
  return searched(db, [
    ...(words === undefined ? [] : [[hasWords, words] as const]),
    ...(literals.length === 0 ? [] : [[hasLiterals, JSON.stringify(literals)] as const]),
    ...(slug === undefined ? [] : [[inCategory, slug] as const])
  ])
}

function searched(db: Db, terms: readonly (readonly [condition: string, value: string])[]): number[] {
  const conditions = [...terms.map(([condition]) => condition), buyable].join(' AND ')
  const statement =
    searches.get(conditions) ??
    rawStatement<string[], number>(
      `SELECT p.id FROM products_search s JOIN products p ON p.id = s.rowid WHERE ${conditions} ${inOrder}`
    )
  searches.set(conditions, statement)
  return statement(db)
    .pluck()
    .all(...terms.map(([, value]) => value))
}
