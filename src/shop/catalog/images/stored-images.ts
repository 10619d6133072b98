import { eq } from 'drizzle-orm'
import type { Tx } from '../../../platform/db/database.ts'
import { insertStatement, rowsStatement, updateStatement } from '../../../platform/db/statements.ts'
import type { ProductImageRow } from '../rows.ts'
import { productImages } from '../schema.ts'
import type { ImageInput } from './image-input.ts'

/** All pictures of a product and its variations, in their order, also those that are not stored yet. */
export const imagesOfProduct = rowsStatement(productImages, 'product_id = ? ORDER BY variation_id, position, id')
const insertImage = insertStatement(productImages)
const updateImage = updateStatement(productImages)

export type ImageOwner = { productId: number; variationId: number | null }

/**
 * Replaces the pictures of a product or of one variation, matched by source. Pictures that are stored are not fetched
 * again. Returns true when something changed.
 *
 * @param folder the folder of the import file, for paths relative to it
 */
export function applyImages(
  tx: Tx,
  owner: ImageOwner,
  wanted: readonly ImageInput[],
  { folder, now }: { folder?: string | undefined; now: number }
): boolean {
  const rows = imagesOfProduct(tx, owner.productId).filter((row) => row.variationId === owner.variationId)
  const left = [...rows]
  let changed = false
  for (const [position, { src, alt }] of wanted.entries()) {
    const place = left.findIndex((row) => row.src === src)
    const [row] = place === -1 ? [] : left.splice(place, 1)
    const from = { folder: isUrl(src) ? null : (folder ?? null) }
    if (row === undefined) insertImage(tx, { ...owner, src, alt, position, ...from, createdAt: now })
    else if (row.alt !== alt || row.position !== position) updateImage(tx, row.id, { alt, position })
    else {
      // The file may have moved since the last try.
      if (row.mediaHash === null && from.folder !== null && row.folder !== from.folder) updateImage(tx, row.id, from)
      continue
    }
    changed = true
  }
  for (const row of left) deleteImageRow(tx, row)
  return changed || left.length > 0
}

/** Whether the source of a picture is a URL. Other sources are paths. */
export function isUrl(src: string): boolean {
  return /^https?:\/\//i.test(src)
}

/** Adds a stored picture after the others, or at the end of its variation's. */
export function insertImageRow(
  tx: Tx,
  owner: ImageOwner,
  image: ImageInput & { folder: string | null; mediaHash: string },
  now: number
): void {
  const rows = imagesOfProduct(tx, owner.productId).filter((row) => row.variationId === owner.variationId)
  const position = Math.max(-1, ...rows.map((row) => row.position)) + 1
  insertImage(tx, { ...owner, ...image, position, createdAt: now })
}

/** Moves a picture to another place among those of its product or variation. */
export function moveImageRow(tx: Tx, id: number, position: number): void {
  updateImage(tx, id, { position })
}

/** Deletes a picture of a product. The stored files stay until the nightly cleaning, because cached pages show them. */
export function deleteImageRow(tx: Tx, { id }: ProductImageRow): void {
  tx.orm.delete(productImages).where(eq(productImages.id, id)).run()
}
