import type { Db } from '../../../platform/db/database.ts'

/** A picture. URLs are absolute, under the public URL; `sizes` has the smallest first. */
export type Image = {
  url: string
  alt: string
  width: number
  height: number
  sizes: { url: string; width: number }[]
}

/** What a picture belongs to. A variation without a picture of its own shows its product's. */
export type Pictured = { productId: number; variationId: number | null }

/**
 * The pictures of a product or variation, the main one first. Everything that shows a picture calls this function.
 * Products have no pictures yet, so the list is empty.
 *
 * @param publicUrl without a trailing slash
 */
export function imagesOf(_db: Db, _pictured: Pictured, _publicUrl: string): Image[] {
  return []
}
