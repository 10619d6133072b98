import type { Db, Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { takeStock } from '../catalog/stock.ts'

type Wanted = { productId: number; variationId: number | null }

const stockOf = rawStatement<Wanted, { stock: number | null; ofVariation: 0 | 1 }>(`
  SELECT coalesce(v.stock, p.stock) AS stock, v.stock IS NOT NULL AS ofVariation
  FROM products p LEFT JOIN variations v ON v.id = @variationId AND v.product_id = p.id
  WHERE p.id = @productId AND (@variationId IS NULL OR v.id IS NOT NULL)`)

/** A counted stock: that of a variation, or that of a product, which its variations without a stock share. */
export type CountedStock = { productId: number; variationId: number | null; units: number }

/** The stock that a line draws on; null if it is not counted. */
export function countedStock(db: Db, { productId, variationId }: Wanted): CountedStock | null {
  const found = stockOf(db).get({ productId, variationId })
  if (found === undefined || found.stock === null) return null
  return { productId, variationId: found.ofVariation === 1 ? variationId : null, units: found.stock }
}

/**
 * Takes units from the stock and returns how many were taken; null when there are too few. It is 0 when the stock is
 * not counted, so that nothing is returned if counting begins before the order is released.
 */
export function takeUnits(tx: Tx, { productId, variationId }: Wanted, quantity: number): number | null {
  const stored = stockOf(tx).get({ productId, variationId })
  if (stored === undefined) return null
  if (stored.stock === null) return 0
  return takeStock(tx, { productId, variationId }, quantity) ? quantity : null
}
