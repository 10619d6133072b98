import type { Tx } from '../../../platform/db/database.ts'
import { rawStatement } from '../../../platform/db/database.ts'
import { tokenMarks } from '../../../platform/search-text.ts'

/** Whether a product `p` cannot be bought: with variations, when all available ones are sold out. */
const isSoldOut = `
  CASE
    WHEN EXISTS (SELECT 1 FROM variations v WHERE v.product_id = p.id AND v.available = 1) THEN NOT EXISTS (
      SELECT 1 FROM variations v WHERE v.product_id = p.id AND v.available = 1 AND coalesce(v.stock, p.stock, 1) > 0
    )
    ELSE coalesce(p.stock, 1) <= 0
  END`

/** The token of the index for `listed` (all entries), `p` and a product's id, or `c` and a category's id. */
export const keyToken = (key: string): string => tokenMarks.key + key

/** The published products of a category as a query of FTS5. */
export const categoryQuery = (id: number): string => `"${keyToken(`c${id}`)}"`

/** The texts of a published product, the tokens of its keys, and its place in the shop. */
const texts = `
  SELECT p.id, p.name, p.description,
    coalesce((SELECT group_concat(tag, ', ') FROM product_tags WHERE product_id = p.id), '') AS tags,
    concat_ws(', ', p.sku,
      (SELECT group_concat(c.name, ', ') FROM product_categories pc JOIN categories c ON c.id = pc.category_id WHERE pc.product_id = p.id),
      (SELECT group_concat(sku, ', ') FROM variations WHERE product_id = p.id AND available = 1)
    ) AS labels,
    concat_ws(' ', char(0xE000) || 'listed', char(0xE000) || 'p' || p.id,
      (SELECT group_concat(char(0xE000) || 'c' || category_id, ' ') FROM product_categories WHERE product_id = p.id)
    ) AS keys,
    ((${isSoldOut}) << 62) | (max(0, min(p.position, (1 << 30) - 1)) << 32) | p.id AS rank
  FROM products p WHERE p.id = ? AND p.published = 1`

const deleteEntry = rawStatement<[string]>(
  'DELETE FROM products_search WHERE rowid = (SELECT rowid FROM products_search WHERE products_search MATCH ?)'
)
const insertEntry = rawStatement<[number]>(`
  INSERT INTO products_search (rowid, name, tags, labels, description, keys)
  SELECT rank, searchable(name), searchable(tags), searchable(labels), searchable(description),
    concat_ws(' ', keys, sign_tokens(char(0xE001), name || ' ' || description || ' ' || tags), sign_tokens(char(0xE002), labels))
  FROM (${texts})`)
const insertWords = rawStatement<[number]>(`
  INSERT OR IGNORE INTO search_words (word, reversed)
  SELECT value, reversed(value) FROM json_each((
    SELECT spelling_words(searchable(concat_ws(' ', name, tags, labels, description))) FROM (${texts})))`)

/**
 * Updates a product's entry in the search index, in the transaction that changes the product, its variations, tags or
 * categories, or sells the last unit or returns the first one. Unpublished products have no entry.
 */
export function indexProduct(tx: Tx, productId: number): void {
  deleteEntry(tx).run(`"${keyToken(`p${productId}`)}"`)
  indexNewProduct(tx, productId)
}

/** Like `indexProduct`, for a product without an entry: an import of many products takes half as long. */
export function indexNewProduct(tx: Tx, productId: number): void {
  insertEntry(tx).run(productId)
  insertWords(tx).run(productId)
}
