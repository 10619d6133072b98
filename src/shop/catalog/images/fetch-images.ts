import { and, eq, isNull } from 'drizzle-orm'
import { write } from '../../../platform/db/database.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { encodePicture } from '../../../platform/pictures/encode-picture.ts'
import type { FetchOptions } from '../../../platform/pictures/fetch-picture.ts'
import { assertPicture, PictureError } from '../../../platform/pictures/picture-kind.ts'
import { media, productImages, products } from '../schema.ts'
import { deleteUnfinishedMedia, hasMediaFiles } from './media-files.ts'
import { recordPicture, storePicture } from './stored-images.ts'
import type { PictureShop } from './stored-images.ts'

const atOnce = 8

/** A picture that could not be stored. */
export type FailedImage = { id: number; slug: string; src: string; problem: string }
export type ImageReport = { stored: number; failed: FailedImage[] }

export type FetchImages = FetchOptions & {
  /** Also those that failed before, and those whose files are missing, as after a restore without media/. */
  retry?: boolean
  onProgress?: ((done: number, all: number) => void) | undefined
}

/**
 * Fetches and stores the pictures that products have but the shop has not stored yet, eight at a time. Each picture is
 * stored by itself, so the next run continues where an interrupted one stopped. A picture that cannot be had is reported,
 * and the reason is kept with it. What a killed process left half written in media/ is deleted.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when the disk is full or cannot be written
 */
export async function fetchImages(shop: PictureShop, options: FetchImages): Promise<ImageReport> {
  deleteUnfinishedMedia(shop.config.dataDir)
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

function missingImages(shop: PictureShop, { retry }: FetchImages): MissingImage[] {
  const { id, src, folder, mediaHash } = productImages
  const rows = shop.db.orm
    .select({ id, slug: products.slug, src, folder, mediaHash, width: media.width })
    .from(productImages)
    .innerJoin(products, eq(products.id, productImages.productId))
    .leftJoin(media, eq(media.hash, mediaHash))
    .where(retry === true ? undefined : and(isNull(mediaHash), isNull(productImages.problem)))
    .orderBy(id)
    .all()
  const isStored = ({ mediaHash, width }: (typeof rows)[number]): boolean =>
    mediaHash !== null && width !== null && hasMediaFiles(shop.config.dataDir, { hash: mediaHash, width })
  return rows.filter((row) => !isStored(row))
}

/** Stores one picture for all products that show it. Returns why it could not be stored. */
async function storeOne(
  shop: PictureShop,
  images: readonly MissingImage[],
  encode: typeof encodePicture,
  options: FetchOptions
): Promise<string | undefined> {
  const [first] = images
  if (first === undefined) return undefined
  const update = (tx: Tx, set: { mediaHash?: string; problem: string | null }): void => {
    for (const { id } of images) tx.orm.update(productImages).set(set).where(eq(productImages.id, id)).run()
  }
  try {
    const picture = await storePicture(shop, first, { ...options, encode })
    write(shop.db, (tx) => update(tx, { mediaHash: recordPicture(tx, shop, picture), problem: null }))
    return undefined
  } catch (error) {
    if (!(error instanceof PictureError)) throw error
    const { message: problem } = error
    write(shop.db, (tx) => update(tx, { problem }))
    return problem
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
