import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../platform/db/database.ts'
import { insertStatement, rawStatement } from '../../platform/db/statements.ts'
import { productGrants, productTags } from './schema.ts'
import type { GrantSpec } from './grants.ts'
import { grantsOfProduct, tagsOfProduct } from './stored-product.ts'

const deleteTags = rawStatement<[number]>('DELETE FROM product_tags WHERE product_id = ?')
const insertTag = insertStatement(productTags)
const deleteGrants = rawStatement<[number]>('DELETE FROM product_grants WHERE product_id = ?')
const insertGrant = insertStatement(productGrants)

/** Replaces a product's tags; returns true when something changed. */
export function applyTags(tx: Tx, productId: number, wanted: readonly string[]): boolean {
  if (isDeepStrictEqual(tagsOfProduct(tx, productId), wanted)) return false
  deleteTags(tx).run(productId)
  for (const [position, tag] of wanted.entries()) insertTag(tx, { productId, tag, position })
  return true
}

/** Replaces a product's grants; returns true when something changed. Benefits that orders have given stay. */
export function applyGrants(tx: Tx, productId: number, wanted: readonly GrantSpec[]): boolean {
  if (isDeepStrictEqual(grantsOfProduct(tx, productId), wanted)) return false
  deleteGrants(tx).run(productId)
  for (const [position, spec] of wanted.entries()) insertGrant(tx, { productId, spec, position })
  return true
}
