import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { write } from '../../../platform/db/database.ts'
import { encodePicture } from '../../../platform/pictures/encode-picture.ts'
import { fetchPicture } from '../../../platform/pictures/fetch-picture.ts'
import type { FetchOptions } from '../../../platform/pictures/fetch-picture.ts'
import { assertPicture, maxPictureBytes, PictureError, tooLarge } from '../../../platform/pictures/picture-kind.ts'
import type { ShopContext } from '../../context.ts'
import { media, productImages, products } from '../schema.ts'
import { hasMediaFile, mediaHashOf, writeMediaFiles } from './media-files.ts'
import { isUrl } from './stored-images.ts'

const atOnce = 8

/** A picture that could not be stored. */
export type FailedImage = { id: number; slug: string; src: string; problem: string }
export type ImageReport = { stored: number; failed: FailedImage[] }

export type FetchImages = FetchOptions & {
  /** Only this picture. */
  imageId?: number | undefined
  /** Also those that failed before, and those whose files are missing, as after a restore without media/. */
  retry?: boolean
  onProgress?: ((done: number, all: number) => void) | undefined
}

/**
 * Fetches and stores the pictures that products have but the shop has not stored yet, eight at a time. Each picture is
 * stored by itself, so the next run continues where an interrupted one stopped. A picture that cannot be had is reported,
 * and the reason is kept with it.
 */
export async function fetchImages(
  shop: Pick<ShopContext, 'db' | 'config' | 'clock'>,
  options: FetchImages
): Promise<ImageReport> {
  const groups = [...Map.groupBy(missingImages(shop, options), ({ src, folder }) => `${folder ?? ''}\n${src}`).values()]
  const report: ImageReport = { stored: 0, failed: [] }
  const queue = groups.values()
  const encode = oneAtATime(encodePicture)
  let done = 0
  const work = async (): Promise<void> => {
    for (const images of queue) {
      const problem = await storeOne(shop, images, encode, options)
      if (problem === undefined) report.stored += images.length
      else report.failed.push(...images.map(({ id, slug, src }) => ({ id, slug, src, problem })))
      options.onProgress?.((done += 1), groups.length)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  report.failed.sort((a, b) => a.id - b.id)
  return report
}

type MissingImage = { id: number; slug: string; src: string; folder: string | null }

function missingImages(shop: Pick<ShopContext, 'db' | 'config'>, { imageId, retry }: FetchImages): MissingImage[] {
  const { id, src, folder, mediaHash } = productImages
  const rows = shop.db.orm
    .select({ id, slug: products.slug, src, folder, mediaHash, width: media.width })
    .from(productImages)
    .innerJoin(products, eq(products.id, productImages.productId))
    .leftJoin(media, eq(media.hash, mediaHash))
    .where(
      and(
        retry === true ? undefined : sql`${mediaHash} IS NULL`,
        retry === true ? undefined : isNull(productImages.problem),
        imageId === undefined ? undefined : eq(id, imageId)
      )
    )
    .orderBy(id)
    .all()
  const isStored = ({ mediaHash, width }: (typeof rows)[number]): boolean =>
    mediaHash !== null && width !== null && hasMediaFile(shop.config.dataDir, { hash: mediaHash, width })
  return rows.filter((row) => !isStored(row))
}

/** Stores one picture for all products that show it. Returns why it could not be stored. */
async function storeOne(
  shop: Pick<ShopContext, 'db' | 'config' | 'clock'>,
  images: readonly MissingImage[],
  encode: typeof encodePicture,
  options: FetchOptions
): Promise<string | undefined> {
  const [first] = images
  if (first === undefined) return undefined
  try {
    const original = await load(first, options)
    const hash = mediaHashOf(original)
    const encoded = await encode(original)
    writeMediaFiles(shop.config.dataDir, hash, encoded)
    const { width, height } = encoded
    write(shop.db, (tx) => {
      tx.orm.insert(media).values({ hash, width, height, createdAt: shop.clock.now() }).onConflictDoNothing().run()
      const set = { mediaHash: hash, problem: null }
      for (const { id } of images) tx.orm.update(productImages).set(set).where(eq(productImages.id, id)).run()
    })
    return undefined
  } catch (error) {
    if (!(error instanceof PictureError)) throw error
    const { message: problem } = error
    write(shop.db, (tx) => {
      for (const { id } of images) tx.orm.update(productImages).set({ problem }).where(eq(productImages.id, id)).run()
    })
    return problem
  }
}

async function load({ src, folder }: MissingImage, options: FetchOptions): Promise<Buffer> {
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
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    throw new PictureError(`The file cannot be read${code}.`, { cause })
  }
}

/** Decoding takes much memory, so one picture is decoded after the other. */
function oneAtATime(encode: typeof encodePicture): typeof encodePicture {
  let last: Promise<unknown> = Promise.resolve()
  return (bytes) => {
    assertPicture(bytes)
    const next = last.then(() => encode(bytes))
    last = next.catch(() => undefined)
    return next
  }
}
