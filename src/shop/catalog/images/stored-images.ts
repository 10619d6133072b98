import { eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { statement } from '../../../platform/db/database.ts'
import type { ProductImageRow } from '../rows.ts'
import { productImages, media } from '../schema.ts'
import type { ImageInput } from '../import/fields.ts'
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AppError } from '../../../errors.ts'
import { encodePicture } from '../../../platform/pictures/encode-picture.ts'
import type { EncodedPicture } from '../../../platform/pictures/encode-picture.ts'
import { fetchPicture } from '../../../platform/pictures/fetch-picture.ts'
import type { FetchOptions } from '../../../platform/pictures/fetch-picture.ts'
import { maxPictureBytes, PictureError, tooLarge } from '../../../platform/pictures/picture-kind.ts'
import type { ShopContext } from '../../context.ts'
import { hasMediaFiles, mediaHashOf, writeMediaFiles } from './media-files.ts'
import { codeOf } from '../../../platform/typed.ts'

const imagesOf = statement((orm) =>
  orm
    .select()
    .from(productImages)
    .where(eq(productImages.productId, sql.placeholder('productId')))
    .orderBy(productImages.variationId, productImages.position, productImages.id)
    .prepare()
)

/** All pictures of a product and its variations, in their order, also those that are not stored yet. */
export function imagesOfProduct(db: Db, productId: number): ProductImageRow[] {
  return imagesOf(db).all({ productId })
}

function insertImage(tx: Tx, image: typeof productImages.$inferInsert): void {
  tx.orm.insert(productImages).values(image).run()
}

function updateImage(tx: Tx, id: number, change: Partial<ProductImageRow>): void {
  tx.orm.update(productImages).set(change).where(eq(productImages.id, id)).run()
}

export type ImageOwner = { productId: number; variationId: number | null }

/**
 * Replaces the pictures of a product or of one variation, matched by source. Pictures that are stored are not fetched
 * again. Returns the pictures before, or undefined when nothing changed.
 *
 * @param folder the folder of the import file, for paths relative to it
 */
export function applyImages(
  tx: Tx,
  owner: ImageOwner,
  wanted: readonly ImageInput[],
  { folder, now }: { folder?: string | undefined; now: number }
): ImageInput[] | undefined {
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
  return changed || left.length > 0 ? rows.map(toImageInput) : undefined
}

/** A picture as an import file names it. */
export function toImageInput({ src, alt }: ProductImageRow): ImageInput {
  return { src, alt }
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

export type PictureShop = Pick<ShopContext, 'db' | 'config' | 'clock'>

/** Where a picture comes from: `bytes` that were sent, or else a URL or a path relative to `folder`. */
export type PictureSource = { src: string; folder: string | null; bytes?: Uint8Array }

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
    const message = `The picture cannot be written to ${config.dataDir}/media${inBrackets(codeOf(cause))}. Free disk space or make the folder writable, then run the command again.`
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

async function load({ src, folder, bytes }: PictureSource, options: FetchOptions): Promise<Uint8Array> {
  if (bytes !== undefined) {
    if (bytes.length > maxPictureBytes) throw tooLarge()
    return bytes
  }
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
    throw new PictureError(`The file cannot be read${inBrackets(codeOf(cause))}.`, { cause })
  }
}

function inBrackets(code: string | undefined): string {
  return code === undefined ? '' : ` (${code})`
}
