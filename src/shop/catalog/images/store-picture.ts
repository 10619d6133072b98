import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AppError } from '../../../errors.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { encodePicture } from '../../../platform/pictures/encode-picture.ts'
import type { EncodedPicture } from '../../../platform/pictures/encode-picture.ts'
import { fetchPicture } from '../../../platform/pictures/fetch-picture.ts'
import type { FetchOptions } from '../../../platform/pictures/fetch-picture.ts'
import { maxPictureBytes, PictureError, tooLarge } from '../../../platform/pictures/picture-kind.ts'
import type { ShopContext } from '../../context.ts'
import { media } from '../schema.ts'
import { hasMediaFiles, mediaHashOf, writeMediaFiles } from './media-files.ts'
import { isUrl } from './stored-images.ts'

export type PictureShop = Pick<ShopContext, 'db' | 'config' | 'clock'>

/** Where a picture comes from: a URL, or a path relative to `folder`. */
export type PictureSource = { src: string; folder: string | null }

/** A picture whose files are written. */
export type StoredPicture = { hash: string; encoded: EncodedPicture }

/**
 * Loads a picture, encodes it and writes its files. Nothing shows it before `recordPicture`.
 *
 * @throws PictureError with the reason when the picture cannot be used; AppError DEPENDENCY_UNAVAILABLE when its files
 *   cannot be written
 */
export async function storePicture(
  { config }: PictureShop,
  source: PictureSource,
  { encode = encodePicture, ...options }: FetchOptions & { encode?: typeof encodePicture }
): Promise<StoredPicture> {
  const original = await load(source, options)
  const hash = mediaHashOf(original)
  const encoded = await encode(original)
  try {
    writeMediaFiles(config.dataDir, hash, encoded)
  } catch (cause) {
    const message = `The picture cannot be written to ${config.dataDir}/media${codeOf(cause)}. Free disk space or make the folder writable, then run the command again.`
    throw new AppError('DEPENDENCY_UNAVAILABLE', message, {}, { cause })
  }
  return { hash, encoded }
}

/**
 * Records a stored picture, in the transaction that shows it, and returns its hash. The nightly cleaning deletes files of
 * pictures that are not shown; if it did so after `storePicture`, they are written again.
 */
export function recordPicture(tx: Tx, { config, clock }: PictureShop, { hash, encoded }: StoredPicture): string {
  const { width, height } = encoded
  tx.orm.insert(media).values({ hash, width, height, createdAt: clock.now() }).onConflictDoNothing().run()
  if (!hasMediaFiles(config.dataDir, { hash, width })) writeMediaFiles(config.dataDir, hash, encoded)
  return hash
}

async function load({ src, folder }: PictureSource, options: FetchOptions): Promise<Buffer> {
  if (isUrl(src)) return fetchPicture(src, options)
  try {
    const path = resolve(folder ?? '.', src)
    // A device such as /dev/zero has no end, and a large file fills the memory.
    const found = await stat(path)
    if (!found.isFile()) throw new PictureError('The path is not a file.')
    if (found.size > maxPictureBytes) throw tooLarge()
    return await readFile(path)
  } catch (cause) {
    if (cause instanceof PictureError) throw cause
    throw new PictureError(`The file cannot be read${codeOf(cause)}.`, { cause })
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
}
