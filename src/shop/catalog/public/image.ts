import { and, eq, sql } from 'drizzle-orm'
import type { Db, Orm } from '../../../platform/db/database.ts'
import { statement } from '../../../platform/db/database.ts'
import { widthsOf } from '../../../platform/pictures/encode-picture.ts'
import { media, productImages, products } from '../schema.ts'
import type { Image } from './shapes.ts'

/** What a picture belongs to. A variation without a picture of its own has none. */
export type Pictured = { productId: number; variationId: number | null }

type Stored = { alt: string; name: string; hash: string; width: number; height: number }

const stored = (orm: Orm) =>
  orm
    .select({
      alt: productImages.alt,
      name: products.name,
      hash: media.hash,
      width: media.width,
      height: media.height
    })
    .from(productImages)
    .innerJoin(media, eq(media.hash, productImages.mediaHash))
    .innerJoin(products, eq(products.id, productImages.productId))
const storedImages = statement((orm) =>
  stored(orm)
    .where(
      and(
        eq(productImages.productId, sql.placeholder('productId')),
        sql`${productImages.variationId} IS ${sql.placeholder('variationId')}`
      )
    )
    .orderBy(productImages.position, productImages.id)
    .prepare()
)
const storedImage = statement((orm) =>
  stored(orm)
    .where(eq(productImages.id, sql.placeholder('id')))
    .prepare()
)

/**
 * The pictures of a product or variation, the main one first. Everything that shows a picture calls this function. A
 * picture without a text of its own has the product's name.
 *
 * @param publicUrl without a trailing slash
 */
export function imagesOf(db: Db, { productId, variationId }: Pictured, publicUrl: string): Image[] {
  return storedImages(db)
    .all({ productId, variationId })
    .map((row) => toImage(row, publicUrl))
}

/** The picture of a line item: the variation's main one, else the product's; null without one. */
export function lineImage(db: Db, { productId, variationId }: Pictured, publicUrl: string): Image | null {
  const own = variationId === null ? [] : imagesOf(db, { productId, variationId }, publicUrl)
  return own[0] ?? imagesOf(db, { productId, variationId: null }, publicUrl)[0] ?? null
}

/** One picture; null while it is not stored. */
export function imageOfRow(db: Db, { id }: { id: number }, publicUrl: string): Image | null {
  const row = storedImage(db).get({ id })
  return row === undefined ? null : toImage(row, publicUrl)
}

function toImage({ alt, name, hash, width, height }: Stored, publicUrl: string): Image {
  const urlOf = (each: number): string => `${publicUrl}/media/${hash}-${each}.webp`
  return {
    url: urlOf(width),
    alt: alt === '' ? name : alt,
    width,
    height,
    sizes: widthsOf(width).map((each) => ({ url: urlOf(each), width: each }))
  }
}
