import type { Tx } from '../../platform/db/database.ts'
import { applyCoupon } from './apply-coupon.ts'
import { ApplyRun, applyProduct } from './apply-product.ts'
import type { ApplyOptions } from './apply-product.ts'
import { countChanges } from './changes.ts'
import type { Change, Counts } from './changes.ts'
import type { CatalogFile } from './import/format.ts'

/** What a file did: counts by kind, and each entry with the fields that changed. */
export type CatalogResult = { products: Counts; coupons: Counts; changes: Change[] }

/**
 * Brings the shop's products and coupons to what a file says: created or changed by slug and by code. What the file says
 * nothing of stays as it is, nothing is ever deleted, and the same file again writes nothing, so that the catalogue's
 * revision stands. Plans, campaigns and affiliates are other folders' business.
 *
 * @throws AppError VALIDATION_FAILED or CONFLICT when an entry cannot be; the caller's transaction then takes it all back.
 */
export function applyCatalogFile(
  tx: Tx,
  file: Pick<CatalogFile, 'products' | 'coupons'>,
  options: ApplyOptions,
  now: number
): CatalogResult {
  const run = new ApplyRun(tx, options, now)
  const products = file.products.map((product) => applyProduct(run, product))
  const coupons = file.coupons.map((coupon, index) => applyCoupon(tx, coupon, now, `coupons.${index}.`))
  return {
    products: countChanges(products),
    coupons: countChanges(coupons),
    changes: [...products, ...coupons]
  }
}
