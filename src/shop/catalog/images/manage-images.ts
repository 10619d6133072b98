import { validationFailed } from '../../../errors.ts'
import { write } from '../../../platform/db/database.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import type { FetchOptions } from '../../../platform/pictures/fetch-picture.ts'
import { PictureError } from '../../../platform/pictures/picture-kind.ts'
import type { ShopContext } from '../../context.ts'
import { getProduct } from '../products.ts'
import type { Image } from '../public/shapes.ts'
import { imageOfRow } from '../public/image.ts'
import type { ProductImageRow, ProductRow } from '../rows.ts'
import { variationsOfProduct } from '../stored-product.ts'
import {
  recordPicture,
  storePicture,
  deleteImageRow,
  imagesOfProduct,
  insertImageRow,
  isUrl,
  moveImageRow
} from './stored-images.ts'
import type { ImageOwner, StoredPicture } from './stored-images.ts'

/** A picture as operators see it: also one that is not stored, with the reason. */
export type ManagedImage = {
  id: number
  /** The SKU of the variation that it shows; null for the product. */
  sku: string | null
  src: string
  alt: string
  /** Null while it is not stored. */
  image: Image | null
  problem: string | null
}

/** The pictures of a product and its variations, in their order. @throws AppError NOT_FOUND */
export function listImages(shop: Pick<ShopContext, 'db' | 'publicUrl'>, slug: string): ManagedImage[] {
  const product = getProduct(shop.db, slug)
  const skus = new Map(variationsOfProduct(shop.db, product.id).map(({ id, sku }) => [id, sku]))
  return imagesOfProduct(shop.db, product.id).map((row) => ({
    id: row.id,
    sku: row.variationId === null ? null : (skus.get(row.variationId) ?? null),
    src: row.src,
    alt: row.alt,
    image: imageOfRow(shop.db, row, shop.publicUrl()),
    problem: row.problem
  }))
}

/** A picture that someone sent: the name of the file, and its content. */
export type SentPicture = { name: string; bytes: Uint8Array }

export type NewImage = {
  /** A URL, a path relative to the current folder, or with `bytes` the name of a file that was sent. */
  src: string
  bytes?: Uint8Array
  alt: string
  /** The SKU of the variation that it shows; undefined for the product. */
  sku: string | undefined
}

/**
 * Fetches a picture, stores it and adds it after the product's others. If it cannot be stored, nothing is added.
 *
 * @throws AppError NOT_FOUND; VALIDATION_FAILED with the reason on `src`, or on `sku` for an unknown variation;
 *   DEPENDENCY_UNAVAILABLE when the disk is full or cannot be written
 */
export async function addImage(
  shop: ShopContext,
  slug: string,
  { sku, ...source }: NewImage,
  options: FetchOptions
): Promise<void> {
  const product = getProduct(shop.db, slug)
  const owner = { productId: product.id, variationId: sku === undefined ? null : variationIdOf(shop.db, product, sku) }
  const picture = await loadPicture(shop, source, options)
  write(shop.db, (tx) => showPicture(tx, shop, owner, picture))
}

/** A picture whose files are stored, and that no product shows yet. */
export type NewPicture = { source: { src: string; folder: string | null; alt: string }; stored: StoredPicture }

/**
 * Fetches a picture and stores its files.
 *
 * @throws AppError VALIDATION_FAILED (`src`) with the source and the reason; DEPENDENCY_UNAVAILABLE when the disk is full or
 *   cannot be written
 */
export async function loadPicture(
  shop: ShopContext,
  { src, alt, bytes }: Pick<NewImage, 'src' | 'alt' | 'bytes'>,
  options: FetchOptions
): Promise<NewPicture> {
  const source = { src, alt, folder: bytes !== undefined || isUrl(src) ? null : process.cwd() }
  const stored = await storePicture(shop, { ...source, ...(bytes && { bytes }) }, options).catch((error: unknown) => {
    if (!(error instanceof PictureError)) throw error
    throw validationFailed({ src: [error.message] }, `${src}: ${error.message}`)
  })
  return { source, stored }
}

/** Shows a loaded picture after the others of a product or variation. */
export function showPicture(tx: Tx, shop: ShopContext, owner: ImageOwner, { source, stored }: NewPicture): void {
  const mediaHash = recordPicture(tx, shop, stored)
  insertImageRow(tx, owner, { ...source, mediaHash }, shop.clock.now())
}

function variationIdOf(db: Db, product: ProductRow, sku: string): number {
  const variation = variationsOfProduct(db, product.id).find((each) => each.sku === sku)
  if (variation === undefined) throw validationFailed({ sku: ['The product has no variation with this SKU.'] })
  return variation.id
}

/**
 * Moves these pictures of a product before its others, in this order.
 *
 * @throws AppError NOT_FOUND; VALIDATION_FAILED when an id is not a picture of the product
 */
export function orderImages(db: Db, slug: string, ids: readonly number[]): void {
  write(db, (tx) => {
    const rows = imagesOfProduct(tx, getProduct(tx, slug).id)
    const first = ids.map((id) => getImage(rows, id))
    const others = rows.filter(({ id }) => !ids.includes(id))
    for (const [position, { id }] of [...new Set([...first, ...others])].entries()) moveImageRow(tx, id, position)
  })
}

/**
 * Removes a picture from a product. Its files stay until the next cleaning.
 *
 * @throws AppError NOT_FOUND; VALIDATION_FAILED when the id is not a picture of the product
 */
export function removeImage(db: Db, slug: string, id: number): void {
  write(db, (tx) => deleteImageRow(tx, getImage(imagesOfProduct(tx, getProduct(tx, slug).id), id)))
}

function getImage(rows: readonly ProductImageRow[], id: number): ProductImageRow {
  const row = rows.find((image) => image.id === id)
  if (row === undefined) throw validationFailed({ id: [`The product has no picture ${id}.`] })
  return row
}
