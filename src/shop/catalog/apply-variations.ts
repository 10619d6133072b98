import { isDeepStrictEqual } from 'node:util'
import { and, eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { applyImages } from './images/stored-images.ts'
import type { VariationInput } from './import/format.ts'
import type { VariationRow } from './rows.ts'
import { variations } from './schema.ts'

const variationsOf = statement((orm) =>
  orm
    .select()
    .from(variations)
    .where(eq(variations.productId, sql.placeholder('productId')))
    .prepare()
)

/**
 * Replaces a product's variations, matched by SKU. A variation that is no longer listed becomes unavailable; its row
 * stays, because orders refer to it. Returns true when something changed.
 *
 * @param options.keepStock keeps the stock of existing variations
 * @param options.folder the folder of the import file, for pictures relative to it
 */
export function applyVariations(
  tx: Tx,
  productId: number,
  wanted: readonly VariationInput[],
  options: { keepStock: boolean; folder?: string | undefined; now: number }
): boolean {
  const rows = variationsOf(tx).all({ productId })
  const bySku = new Map(rows.map((row) => [row.sku, row]))
  const applied = wanted.map(({ images, ...input }, position) => {
    const row = bySku.get(input.sku)
    const changed = applyVariation(tx, productId, row, { ...input, position }, options.keepStock)
    if (images === undefined) return changed
    const owner = { productId, variationId: row?.id ?? variationIdOf(tx, productId, input.sku) }
    return applyImages(tx, owner, images, options) || changed
  })
  const listed = new Set(wanted.map((input) => input.sku))
  const removed = rows.filter((row) => row.available && !listed.has(row.sku))
  for (const { id } of removed) updateVariation(tx, id, { available: false })
  return applied.includes(true) || removed.length > 0
}

function variationIdOf(tx: Tx, productId: number, sku: string): number {
  const row = tx.orm
    .select({ id: variations.id })
    .from(variations)
    .where(and(eq(variations.productId, productId), eq(variations.sku, sku)))
    .get()
  if (row === undefined) throw new Error(`Product ${productId} has no variation ${sku}.`)
  return row.id
}

function updateVariation(tx: Tx, id: number, change: Partial<VariationRow>): void {
  tx.orm.update(variations).set(change).where(eq(variations.id, id)).run()
}

function applyVariation(
  tx: Tx,
  productId: number,
  row: VariationRow | undefined,
  input: Omit<VariationInput, 'images'> & { position: number },
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
  if (isDeepStrictEqual({ ...row, ...wanted }, row) && hasOrder(row, input)) return false
  updateVariation(tx, row.id, wanted)
  return true
}

/** Whether the options have the same order, which decides the order of the choices on the product's page. */
function hasOrder(row: VariationRow, input: Pick<VariationInput, 'options'>): boolean {
  return isDeepStrictEqual(Object.keys(row.options), Object.keys(input.options))
}
