import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { slug as slugField } from '../../platform/input-fields.ts'
import { productUrl } from '../catalog/product-url.ts'
import { getProduct } from '../catalog/products.ts'
import type { ProductRow } from '../catalog/rows.ts'
import { products } from '../catalog/schema.ts'
import { indexProduct } from '../catalog/search/index-product.ts'
import { productBySlug } from '../catalog/stored-product.ts'
import type { ShopContext } from '../context.ts'
import { dropRedirect, redirectKey, storeRedirect } from './redirects.ts'

/**
 * Gives a product another slug. Its old address leads to the new one.
 *
 * @throws AppError NOT_FOUND; VALIDATION_FAILED (`slug`) for one that is none, or that another product has
 */
export function renameProduct(
  shop: Pick<ShopContext, 'db' | 'publicUrl'>,
  slugOrId: string,
  newSlug: string,
  now: number
): ProductRow {
  const { slug } = parseWith(z.object({ slug: slugField() }), { slug: newSlug })
  return write(shop.db, (tx) => {
    const row = getProduct(tx, slugOrId)
    if (row.slug === slug) return row
    if (productBySlug(tx, slug) !== undefined) throw validationFailed({ slug: ['Another product has this slug.'] })
    const inTx = { ...shop, db: tx }
    const [from, to] = [row.slug, slug].map((each) => redirectKey(productUrl(inTx)(each)))
    tx.orm.update(products).set({ slug, updatedAt: now }).where(eq(products.id, row.id)).run()
    indexProduct(tx, row.id)
    dropRedirect(tx, to)
    if (from !== undefined && from !== to) storeRedirect(tx, shop, from, { product: slug }, now)
    return getProduct(tx, slug)
  })
}
