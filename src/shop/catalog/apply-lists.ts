import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { productGrants, productTags } from './schema.ts'
import type { GrantSpec } from './grants.ts'
import { grantsOfProduct, tagsOfProduct } from './stored-product.ts'

/** Replaces a product's tags; returns true when something changed. */
export function applyTags(tx: Tx, productId: number, wanted: readonly string[]): boolean {
  if (isDeepStrictEqual(tagsOfProduct(tx, productId), wanted)) return false
  tx.orm.delete(productTags).where(eq(productTags.productId, productId)).run()
  for (const [position, tag] of wanted.entries()) tx.orm.insert(productTags).values({ productId, tag, position }).run()
  return true
}

/** Replaces a product's grants; returns true when something changed. Benefits that orders have given stay. */
export function applyGrants(tx: Tx, productId: number, wanted: readonly GrantSpec[]): boolean {
  if (isDeepStrictEqual(grantsOfProduct(tx, productId), wanted)) return false
  tx.orm.delete(productGrants).where(eq(productGrants.productId, productId)).run()
  for (const [position, spec] of wanted.entries()) {
    tx.orm.insert(productGrants).values({ productId, spec, position }).run()
  }
  return true
}
