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
/**
 * Compares a text with each literal. SQLite itself first looks for the digits and signs of the literals, which have no
 * upper case: to compute the compare_key of all descriptions took ten times as long. It is computed only for a text that
 * has them and is not ASCII. Each LIMIT keeps SQLite from computing the text again for each literal.
 */
const hasLiterals = `
  CASE
    WHEN EXISTS (
      SELECT 1 FROM json_each(?)
      WHERE instr(s.name, value) = 0 AND instr(s.description, value) = 0 AND instr(s.tags, value) = 0
    ) THEN 0
    ELSE NOT EXISTS (
      SELECT 1 FROM (
        SELECT CASE WHEN octet_length(plain) = length(plain) THEN lower(plain) ELSE compare_key(plain) END AS text
        FROM (SELECT s.name || ' ' || s.description || ' ' || s.tags AS plain LIMIT 1) LIMIT 1
      ) CROSS JOIN json_each(?)
      WHERE instr(text, value) = 0
    )
  END`
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
  const { words, literals, caseless } = parseSearch(search)
  if (words === undefined && literals.length === 0) return []
  return searched(db, [
    ...(words === undefined ? [] : [{ condition: hasWords, values: [words] }]),
    ...(literals.length === 0 ? [] : [{ condition: hasLiterals, values: [caseless, literals].map(toJson) }]),
    ...(slug === undefined ? [] : [{ condition: inCategory, values: [slug] }])
  ])
}

const toJson = (texts: readonly string[]): string => JSON.stringify(texts)

type Term = { condition: string; values: readonly string[] }

function searched(db: Db, terms: readonly Term[]): number[] {
  const conditions = [...terms.map(({ condition }) => condition), buyable].join(' AND ')
  const statement =
    searches.get(conditions) ??
    rawStatement<string[], number>(
      `SELECT p.id FROM products_search s JOIN products p ON p.id = s.rowid WHERE ${conditions} ${inOrder}`
    )
  searches.set(conditions, statement)
  return statement(db)
    .pluck()
    .all(...terms.flatMap(({ values }) => values))
}
