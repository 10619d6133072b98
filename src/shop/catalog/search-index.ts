import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'

const forget = rawStatement<[number]>('DELETE FROM products_search WHERE rowid = ?')
const remember = rawStatement<[number]>(`
  INSERT INTO products_search (rowid, name, description, tags)
  SELECT id, name, description, coalesce((SELECT group_concat(tag, ', ') FROM product_tags WHERE product_id = products.id), '')
  FROM products WHERE id = ?`)

/** Brings what the search knows of a product up to date; in the transaction that changed its name, text or tags. */
export function indexProduct(tx: Tx, productId: number): void {
  forget(tx).run(productId)
  remember(tx).run(productId)
}
