import type { CountsByKind } from '../../shop/catalog/changes.ts'
import type { App } from '../../app.ts'
import type { Tx } from '../../platform/db/database.ts'
import { applyCampaigns, applyPlans } from '../../shop/benefits/plans.ts'
import { applyCatalogFile } from '../../shop/catalog/apply-catalog.ts'
import type { CatalogFile } from '../../shop/catalog/import/format.ts'
import { productUrl } from '../../shop/catalog/product-url.ts'

/**
 * Creates or updates plans, campaigns, products and coupons from a catalogue file. Existing products keep their stock, so
 * that seeding again does not undo sales.
 *
 * @throws AppError VALIDATION_FAILED or CONFLICT for an invalid file
 */
export function applyCatalogue(app: App, tx: Tx, file: CatalogFile, now: number): CountsByKind {
  const plans = applyPlans(tx, file.plans)
  const campaigns = applyCampaigns(tx, file.campaigns)
  const options = { keepStock: true, urlOf: productUrl(app) }
  const { products, coupons } = applyCatalogFile(tx, file, options, now)
  return { products, coupons, plans, campaigns }
}
