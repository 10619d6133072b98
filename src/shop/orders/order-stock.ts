import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { takeStock } from '../catalog/stock.ts'

type Wanted = { productId: number; variationId: number | null }

const stockOf = rawStatement<Wanted, { stock: number | null }>(`
  SELECT coalesce(v.stock, p.stock) AS stock
  FROM products p LEFT JOIN variations v ON v.id = @variationId AND v.product_id = p.id
  WHERE p.id = @productId AND (@variationId IS NULL OR v.id IS NOT NULL)`)

/**
 * Takes units off the stock and says how many were: all, none where nobody counts (so that none is put back should
 * somebody begin to count before the order is given up), or null when there are too few.
 */
export function takeUnits(tx: Tx, { productId, variationId }: Wanted, quantity: number): number | null {
  const kept = stockOf(tx).get({ productId, variationId })
  if (kept === undefined) return null
  if (kept.stock === null) return 0
  return takeStock(tx, { productId, variationId }, quantity) ? quantity : null
}
