import type { Tx } from '../../../platform/db/database.ts'
import { rawStatement } from '../../../platform/db/statements.ts'
import { deleteMediaFiles } from './media-files.ts'

const deleteUnused = rawStatement<[number], { hash: string; width: number }>(`
  DELETE FROM media WHERE hash IN (
    SELECT hash FROM media WHERE NOT EXISTS (SELECT 1 FROM product_images WHERE media_hash = media.hash) LIMIT ?
  ) RETURNING hash, width`)

/**
 * Deletes the stored pictures that no product shows, at most `limit`, with their files. Returns their number. The files go
 * within the transaction: after it, another process may have stored the same picture again.
 */
export function purgeMedia(tx: Tx, dataDir: string, limit: number): number {
  const unused = deleteUnused(tx).all(limit)
  for (const picture of unused) deleteMediaFiles(dataDir, picture)
  return unused.length
}
