import { rawStatement } from '../../../platform/db/statements.ts'
import type { Tx } from '../../../platform/db/database.ts'

const deleteUnused = rawStatement<[], { hash: string; width: number }>(
  `DELETE FROM media WHERE NOT EXISTS (SELECT 1 FROM product_images WHERE media_hash = media.hash) RETURNING hash, width`
)

/** Forgets the stored pictures that no product shows. Returns them, so that the caller deletes their files afterwards. */
export function purgeMedia(tx: Tx): { hash: string; width: number }[] {
  return deleteUnused(tx).all()
}
