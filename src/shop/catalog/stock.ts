import { and, eq, gte, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { products, variations } from './schema.ts'
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

/** The units of all variations together; null when one of them is not counted. Variations may share the product's stock. */
export function totalStock(
  product: { stock: number | null },
  variations: readonly { stock: number | null }[]
): number | null {
  const own = variations.flatMap(({ stock }) => stock ?? [])
  const sharing = variations.length === 0 || own.length < variations.length
  if (sharing && product.stock === null) return null
  return own.reduce((sum, stock) => sum + stock, sharing ? (product.stock ?? 0) : 0)
}

const quantity = sql.placeholder('quantity')
const ofVariation = and(
  eq(variations.id, sql.placeholder('variationId')),
  eq(variations.productId, sql.placeholder('productId'))
)
const ofProduct = eq(products.id, sql.placeholder('productId'))
const takeOfVariation = statement((orm) =>
  orm
    .update(variations)
    .set({ stock: sql`${variations.stock} - ${quantity}` })
    .where(and(ofVariation, gte(variations.stock, quantity)))
    .returning({ stock: variations.stock })
    .prepare()
)
const takeOfProduct = statement((orm) =>
  orm
    .update(products)
    .set({ stock: sql`${products.stock} - ${quantity}` })
    .where(and(ofProduct, gte(products.stock, quantity)))
    .returning({ stock: products.stock })
    .prepare()
)
const uncountedVariation = statement((orm) =>
  orm
    .select({ id: variations.id })
    .from(variations)
    .where(and(ofVariation, isNull(variations.stock)))
    .prepare()
)
const uncountedProduct = statement((orm) =>
  orm
    .select({ id: products.id })
    .from(products)
    .where(and(ofProduct, isNull(products.stock)))
    .prepare()
)
const returnToVariation = statement((orm) =>
  orm
    .update(variations)
    .set({ stock: sql`${variations.stock} + ${quantity}` })
    .where(and(ofVariation, isNotNull(variations.stock)))
    .returning({ stock: variations.stock })
    .prepare()
)
const returnToProduct = statement((orm) =>
  orm
    .update(products)
    .set({ stock: sql`${products.stock} + ${quantity}` })
    .where(and(ofProduct, isNotNull(products.stock)))
    .returning({ stock: products.stock })
    .prepare()
)

/**
 * Takes units from the stock; when there are too few, takes none and returns false. The UPDATE itself checks the
 * quantity, so that two orders cannot both get the last unit. Stock that is not counted is always enough.
 */
export function takeStock(tx: Tx, { productId, variationId }: SoldItem, quantity: number): boolean {
  if (variationId !== null) {
    const left = takeOfVariation(tx).get({ variationId, productId, quantity })
    if (left?.stock === 0) indexProduct(tx, productId)
    if (left !== undefined) return true
    if (uncountedVariation(tx).get({ variationId, productId }) === undefined) return false
  }
  const left = takeOfProduct(tx).get({ productId, quantity })
  if (left?.stock === 0) indexProduct(tx, productId)
  return left !== undefined || uncountedProduct(tx).get({ productId }) !== undefined
}

/** Returns units to the stock that `takeStock` took them from. Does nothing where stock is not counted. */
export function returnStock(tx: Tx, { productId, variationId }: SoldItem, quantity: number): void {
  const left =
    (variationId === null ? undefined : returnToVariation(tx).get({ variationId, productId, quantity })) ??
    returnToProduct(tx).get({ productId, quantity })
  // The product was sold out, so it moves forward in the lists.
  if (left?.stock === quantity) indexProduct(tx, productId)
}
