import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'

const deleteEntry = rawStatement<[number]>('DELETE FROM products_search WHERE rowid = ?')
const insertEntry = rawStatement<[number]>(`
  INSERT INTO products_search (rowid, name, description, tags)
  SELECT id, name, description, coalesce((SELECT group_concat(tag, ', ') FROM product_tags WHERE product_id = products.id), '')
  FROM products WHERE id = ?`)

/** Updates a product's entry in the full-text index, in the transaction that changes its name, description or tags. */
export function indexProduct(tx: Tx, productId: number): void {
  deleteEntry(tx).run(productId)
  insertEntry(tx).run(productId)
}
