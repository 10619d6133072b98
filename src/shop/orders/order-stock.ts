import { rawStatement } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { takeStock } from '../catalog/stock.ts'

type Wanted = { productId: number; variationId: number | null }

const counted = rawStatement<Wanted, { counted: 1 }>(`
  SELECT 1 AS counted FROM products p LEFT JOIN variations v ON v.id = @variationId
  WHERE p.id = @productId AND coalesce(v.stock, p.stock) IS NOT NULL`)

/**
 * Takes units off the stock and says how many were: all, none where nobody counts (so that none is put back should
 * somebody begin to count before the order is given up), or null when there are too few.
 */
export function takeUnits(tx: Tx, { productId, variationId }: Wanted, quantity: number): number | null {
  const isCounted = counted(tx).get({ productId, variationId }) !== undefined
  if (!takeStock(tx, { productId, variationId }, quantity)) return null
  return isCounted ? quantity : 0
}
