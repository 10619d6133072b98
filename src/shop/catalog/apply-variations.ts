import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { rowsStatement } from '../../platform/db/statements.ts'
import type { VariationInput } from './import/format.ts'
import type { VariationRow } from './rows.ts'
import { variations } from './schema.ts'

const variationsOf = rowsStatement(variations, 'product_id = ?')

/**
 * Makes these the product's variations, by SKU; one that is no longer named stays for the orders that point at it and
 * can no longer be bought. True when that changed something.
 */
export function applyVariations(
  tx: Tx,
  productId: number,
  wanted: readonly VariationInput[],
  { keepStock }: { keepStock: boolean }
): boolean {
  const rows = variationsOf(tx, productId)
  const bySku = new Map(rows.map((row) => [row.sku, row]))
  const applied = wanted.map((input, position) =>
    applyVariation(tx, productId, bySku.get(input.sku), { ...input, position }, keepStock)
  )
  const named = new Set(wanted.map((input) => input.sku))
  const gone = rows.filter((row) => row.available && !named.has(row.sku))
  for (const { id } of gone) tx.orm.update(variations).set({ available: false }).where(eq(variations.id, id)).run()
  return applied.includes(true) || gone.length > 0
}

function applyVariation(
  tx: Tx,
  productId: number,
  row: VariationRow | undefined,
  input: VariationInput & { position: number },
  keepStock: boolean
): boolean {
  if (row === undefined) {
    tx.orm
      .insert(variations)
      .values({ ...input, productId })
      .run()
    return true
  }
  const wanted = { ...input, stock: keepStock ? row.stock : input.stock, available: true }
  if (isDeepStrictEqual({ ...row, ...wanted }, row)) return false
  tx.orm.update(variations).set(wanted).where(eq(variations.id, row.id)).run()
  return true
}
