import { asc } from 'drizzle-orm'
import { toIsoOrNull } from '../../platform/iso-time.ts'
import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { toDecimalText } from '../../platform/money.ts'
import { categoryReference, exportCategories } from './category-tree.ts'
import { listCoupons, scopeNames } from './coupons.ts'
import { imagesOfProduct, toImageInput } from './images/stored-images.ts'
import type { FullProduct } from './import/format.ts'
import { toCatalogFile, toEntry } from './import/write-json.ts'
import type { ProductEntry } from './import/write-json.ts'
import type { CouponRow, ProductRow } from './rows.ts'
import { products } from './schema.ts'
import { categoriesOfProduct, grantsOfProduct, tagsOfProduct, variationsOfProduct } from './stored-product.ts'

/**
 * The categories, every product and every enabled coupon in the import format (docs/contract.md A7). Importing it into the shop that
 * wrote it changes nothing. Disabled coupons are left out, because importing them elsewhere would enable them. Variations
 * that are no longer sold, and the number of uses of a coupon, are left out too.
 */
export function exportCatalog(db: Db, currency: string) {
  return readSnapshot(db, () => {
    const rows = db.orm.select().from(products).orderBy(asc(products.position), asc(products.id)).all()
    const file = toCatalogFile(
      rows.map((row) => toFullProduct(db, row)),
      { currency }
    )
    const coupons = listCoupons(db, (row) => (row.enabled ? [toCouponEntry(db, row, currency)] : []))
    return { categories: exportCategories(db), ...file, coupons: [...coupons].flat() }
  })
}

/** One product as an entry of the import format. */
export function exportProduct(db: Db, row: ProductRow, currency: string): ProductEntry {
  return toEntry(toFullProduct(db, row), currency)
}

/** A product with its lists, as it is stored. */
export function toFullProduct(db: Db, row: ProductRow): FullProduct {
  const { id } = row
  const images = imagesOfProduct(db, id)
  const imagesFor = (variation: number | null) =>
    images.filter(({ variationId }) => variationId === variation).map(toImageInput)
  return {
    ...row,
    categories: categoriesOfProduct(db, id).map(categoryReference),
    tags: tagsOfProduct(db, id),
    images: imagesFor(null),
    variations: variationsOfProduct(db, id).map((variation) => ({ ...variation, images: imagesFor(variation.id) })),
    grants: grantsOfProduct(db, id)
  }
}

/** A coupon as an entry of the import format. */
export function toCouponEntry(db: Db, row: CouponRow, currency: string) {
  const amount = (minor: number | null) => (minor === null ? null : toDecimalText(minor, currency))
  return {
    code: row.code,
    ...(row.percentBps === null ? { amount: amount(row.amountMinor) } : { percent: row.percentBps / 100 }),
    startsAt: toIsoOrNull(row.startsAt),
    endsAt: toIsoOrNull(row.endsAt),
    minTotal: amount(row.minTotalMinor),
    maxUses: row.maxUses,
    maxUsesPerCustomer: row.maxUsesPerCustomer,
    exclusive: row.exclusive,
    ...scopeNames(db, row.id)
  }
}
