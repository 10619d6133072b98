import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { indexProduct } from './search/index-product.ts'

/** A product or variation in an order. A variation without a stock of its own uses its product's stock. */
export type SoldItem = { productId: number; variationId: number | null }

/** How many units can still be sold; null when stock is not counted. */
export function effectiveStock(
  product: { stock: number | null },
  variation: { stock: number | null } | null
): number | null {
  return variation?.stock ?? product.stock
}

const takeOfVariation = rawStatement<[number, number, number, number]>(
  'UPDATE variations SET stock = stock - ? WHERE id = ? AND product_id = ? AND stock >= ?'
)
const takeOfProduct = rawStatement<[number, number, number]>(
  'UPDATE products SET stock = stock - ? WHERE id = ? AND stock >= ?'
)
const uncountedVariation = rawStatement<[number, number], { found: 1 }>(
  'SELECT 1 AS found FROM variations WHERE id = ? AND product_id = ? AND stock IS NULL'
)
const uncountedProduct = rawStatement<[number], { found: 1 }>(
  'SELECT 1 AS found FROM products WHERE id = ? AND stock IS NULL'
)
const returnToVariation = rawStatement<[number, number, number]>(
  'UPDATE variations SET stock = stock + ? WHERE id = ? AND product_id = ? AND stock IS NOT NULL'
)
const returnToProduct = rawStatement<[number, number]>(
  'UPDATE products SET stock = stock + ? WHERE id = ? AND stock IS NOT NULL'
)
const variationHas = rawStatement<[number, number], { found: 1 }>(
  'SELECT 1 AS found FROM variations WHERE id = ? AND stock = ?'
)
const productHas = rawStatement<[number, number], { found: 1 }>(
  'SELECT 1 AS found FROM products WHERE id = ? AND stock = ?'
)

/**
 * Takes units from the stock; when there are too few, takes none and returns false. The UPDATE itself checks the
 * quantity, so that two orders cannot both get the last unit. Stock that is not counted is always enough.
 */
export function takeStock(tx: Tx, { productId, variationId }: SoldItem, quantity: number): boolean {
  if (variationId !== null) {
    if (takeOfVariation(tx).run(quantity, variationId, productId, quantity).changes === 1) {
      if (variationHas(tx).get(variationId, 0) !== undefined) indexProduct(tx, productId)
      return true
    }
    if (uncountedVariation(tx).get(variationId, productId) === undefined) return false
  }
  if (takeOfProduct(tx).run(quantity, productId, quantity).changes === 1) {
    if (productHas(tx).get(productId, 0) !== undefined) indexProduct(tx, productId)
    return true
  }
  return uncountedProduct(tx).get(productId) !== undefined
}

/** Returns units to the stock that `takeStock` took them from. Does nothing where stock is not counted. */
export function returnStock(tx: Tx, { productId, variationId }: SoldItem, quantity: number): void {
  if (variationId !== null && returnToVariation(tx).run(quantity, variationId, productId).changes === 1) {
    if (variationHas(tx).get(variationId, quantity) !== undefined) indexProduct(tx, productId)
    return
  }
  returnToProduct(tx).run(quantity, productId)
  if (productHas(tx).get(productId, quantity) !== undefined) indexProduct(tx, productId)
}
