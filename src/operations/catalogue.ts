import { write } from '../platform/db/database.ts'
import type { Tx } from '../platform/db/database.ts'
import { applyCampaigns, applyPlans } from '../shop/benefits/plans.ts'
import { applyCatalogFile } from '../shop/catalog/apply-catalog.ts'
import type { Change, CountsByKind } from '../shop/catalog/changes.ts'
import { dryRun } from '../platform/db/dry-run.ts'
import type { CatalogFile } from '../shop/catalog/import/format.ts'
import { productUrl } from '../shop/catalog/product-url.ts'
import type { ShopContext } from '../shop/context.ts'
import { applyShipping } from '../shop/shipping/apply-shipping.ts'
import { applyTaxRates } from '../shop/tax/rates.ts'

export type AppliedCatalogue = { counts: CountsByKind; changes: Change[] }

/**
 * Imports a catalogue file, whole or not at all. Stock becomes what the file says. Affiliates belong to accounts and are
 * left to seeding.
 *
 * @param options.dryRun returns the result without changing anything
 * @throws AppError VALIDATION_FAILED or CONFLICT for an invalid file
 */
export function importCatalogue(
  shop: ShopContext,
  file: CatalogFile,
  options: { dryRun: boolean },
  now: number
): AppliedCatalogue {
  const run = options.dryRun ? dryRun : write
  return run(shop.db, (tx) => applyCatalogue(shop, tx, file, { keepStock: false }, now))
}

/**
 * Creates or updates plans, campaigns, categories, products, coupons, shipping zones and tax rates from a catalogue file.
 *
 * @param options.keepStock existing products keep their stock, so that seeding again does not undo sales
 * @throws AppError VALIDATION_FAILED or CONFLICT for an invalid file
 */
export function applyCatalogue(
  shop: ShopContext,
  tx: Tx,
  file: CatalogFile,
  options: { keepStock: boolean },
  now: number
): AppliedCatalogue {
  const plans = applyPlans(tx, file.plans)
  const campaigns = applyCampaigns(tx, file.campaigns)
  const { products, coupons, categories, changes } = applyCatalogFile(
    tx,
    file,
    { ...options, urlOf: productUrl(shop), folder: file.folder },
    now
  )
  const shipping = applyShipping(tx, file.shipping)
  const tax = applyTaxRates(tx, file.tax)
  return { counts: { products, coupons, plans, campaigns, categories, shipping, tax }, changes }
}
