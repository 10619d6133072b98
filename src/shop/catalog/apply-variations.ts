import { isDeepStrictEqual } from 'node:util'
import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { placeholders, statement } from '../../platform/db/database.ts'
import { applyImages, imagesOfProduct, toImageInput } from './images/stored-images.ts'
import type { ImageInput } from './import/fields.ts'
import { variationColumns } from './import/format.ts'
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

const columns = [...variationColumns, 'position'] as const

/** Inserts a variation, or updates the one with its SKU, which an import of thousands does with one prepared statement. */
const upsert = statement((orm) =>
  orm
    .insert(variations)
    .values(placeholders([...columns, 'productId']))
    .onConflictDoUpdate({
      target: [variations.productId, variations.sku],
      set: {
        ...Object.fromEntries(columns.map((name) => [name, sql`excluded.${sql.identifier(variations[name].name)}`])),
        available: true
      }
    })
    .returning({ id: variations.id })
    .prepare()
)

/**
 * Replaces a product's variations, matched by SKU. A variation that is no longer listed becomes unavailable; its row
 * stays, because orders refer to it. Returns the variations before, or undefined when nothing changed.
 *
 * @param options.keepStock keeps the stock of existing variations
 * @param options.folder the folder of the import file, for pictures relative to it
 */
export function applyVariations(
  tx: Tx,
  productId: number,
  wanted: readonly VariationInput[],
  options: { keepStock: boolean; folder?: string | undefined; now: number }
): VariationInput[] | undefined {
  const rows = variationsOf(tx).all({ productId })
  const bySku = new Map(rows.map((row) => [row.sku, row]))
  const oldImages = new Map<number, ImageInput[]>()
  const applied = wanted.map(({ images, ...input }, position) => {
    const row = bySku.get(input.sku)
    const stock = options.keepStock && row !== undefined ? row.stock : input.stock
    const changed = { ...input, stock, position }
    const isSame = row !== undefined && isUnchanged(row, changed)
    const variationId = isSame ? row.id : upsert(tx).get({ ...changed, productId }).id
    const before = images && applyImages(tx, { productId, variationId }, images, options)
    if (before !== undefined) oldImages.set(variationId, before)
    return before !== undefined || !isSame
  })
  const listed = new Set(wanted.map((input) => input.sku))
  const removed = rows.filter((row) => row.available && !listed.has(row.sku))
  for (const { id } of removed) tx.orm.update(variations).set({ available: false }).where(eq(variations.id, id)).run()
  if (!applied.includes(true) && removed.length === 0) return undefined
  const images = imagesOfProduct(tx, productId)
  return rows
    .filter(({ available }) => available)
    .toSorted((a, b) => a.position - b.position)
    .map((row) => ({
      ...row,
      images: oldImages.get(row.id) ?? images.filter(({ variationId }) => variationId === row.id).map(toImageInput)
    }))
}

/** Options in another order are a change: their order decides the order of the choices on the product's page. */
function isUnchanged(row: VariationRow, wanted: Omit<VariationInput, 'images'> & { position: number }): boolean {
  return (
    isDeepStrictEqual({ ...row, ...wanted, available: true }, row) &&
    isDeepStrictEqual(Object.keys(row.options), Object.keys(wanted.options))
  )
}
