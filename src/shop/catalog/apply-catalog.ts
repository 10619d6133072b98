import type { Tx } from '../../platform/db/database.ts'
import { applyCoupon } from './apply-coupon.ts'
import { ApplyRun, applyProduct } from './apply-product.ts'
import type { ApplyOptions } from './apply-product.ts'
import { countChanges } from './changes.ts'
import type { Change, Counts } from './changes.ts'
import type { CatalogFile } from './import/format.ts'

/** The result of an import: counts by kind, and each product and coupon with the fields that changed. */
export type CatalogResult = { products: Counts; coupons: Counts; categories: Counts; changes: Change[] }

/**
 * Creates and updates the categories, products and coupons of a file, matched by slug and code. Missing fields stay unchanged and
 * nothing is deleted. Importing the same file again writes nothing, so the catalog's revision does not change. The
 * file's plans, campaigns and affiliates are not handled here.
 *
 * @throws AppError VALIDATION_FAILED or CONFLICT when an entry cannot be applied; the caller's transaction must roll back
 */
export function applyCatalogFile(
  tx: Tx,
  file: Pick<CatalogFile, 'categories' | 'products' | 'coupons'>,
  options: ApplyOptions,
  now: number
): CatalogResult {
  const run = new ApplyRun(tx, options, now)
  const categories = run.categories.applyEntries(file.categories)
  const products = file.products.map((product) => applyProduct(run, product))
  const coupons = file.coupons.map((coupon, index) => applyCoupon(run, coupon, `coupons.${index}.`))
  return {
    products: countChanges(products),
    coupons: countChanges(coupons),
    categories,
    changes: [...products, ...coupons]
  }
}
