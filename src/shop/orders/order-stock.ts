import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { takeStock } from '../catalog/stock.ts'

type Wanted = { productId: number; variationId: number | null }

const stockOf = rawStatement<Wanted, { stock: number | null }>(`
  SELECT coalesce(v.stock, p.stock) AS stock
  FROM products p LEFT JOIN variations v ON v.id = @variationId AND v.product_id = p.id
  WHERE p.id = @productId AND (@variationId IS NULL OR v.id IS NOT NULL)`)

/**
 * Takes units from the stock and returns how many were taken; null when there are too few. It is 0 when the stock is not
 * counted, so that nothing is returned if counting begins before the order is released.
 */
export function takeUnits(tx: Tx, { productId, variationId }: Wanted, quantity: number): number | null {
  const stored = stockOf(tx).get({ productId, variationId })
  if (stored === undefined) return null
  if (stored.stock === null) return 0
  return takeStock(tx, { productId, variationId }, quantity) ? quantity : null
}
