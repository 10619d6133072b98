import type { App } from '../../app.ts'
import { write } from '../../platform/db/database.ts'
import { applyAffiliates } from '../../shop/affiliates/create.ts'
import { sumCounts } from '../../shop/catalog/changes.ts'
import type { CountsByKind } from '../../shop/catalog/changes.ts'
import type { CatalogFile } from '../../shop/catalog/import/format.ts'
import { importCatalog } from '../catalog.ts'
import { countOrders, isEmptyShop, refuseInProduction, seedDemo } from './demo.ts'
import { generateOrders } from './generated-orders.ts'

export type Seed = {
  files: readonly CatalogFile[]
  /** The package's demo shop. */
  demo: boolean
  /** Generate orders until the shop has this many. */
  orders: number | undefined
}

/**
 * Fills the shop from catalog files, with the demo shop and with generated orders. An empty shop gets the demo shop
 * before any orders are generated. A second run changes nothing.
 *
 * @param tell receives the number of orders after each batch of generated ones
 * @throws AppError VALIDATION_FAILED or CONFLICT for an invalid file; CONFLICT for made-up data in production
 */
export async function seedShop(
  app: App,
  { files, demo, orders }: Seed,
  now: number,
  tell: (done: number) => void
): Promise<CountsByKind> {
  if (demo || orders !== undefined) refuseInProduction(app)
  const before = countOrders(app.db)
  const parts: CountsByKind[] = []
  if (files.length > 0) parts.push(await seedFiles(app, files, now))
  if (demo || (orders !== undefined && isEmptyShop(app.db))) parts.push(await seedDemo(app, now))
  if (orders === undefined) return sumCounts(parts)
  await generateOrders(app, orders, now, tell)
  const created = countOrders(app.db) - before
  return { ...sumCounts(parts), orders: { created, updated: 0, unchanged: before } }
}

/** The affiliates in one transaction, then the catalogs as an import does, so that a shop that sells goes on. */
async function seedFiles(app: App, files: readonly CatalogFile[], now: number): Promise<CountsByKind> {
  const affiliates = write(app.db, (tx) =>
    sumCounts(files.map((file) => ({ affiliates: applyAffiliates(tx, file.affiliates, now) })))
  )
  const parts: CountsByKind[] = []
  for (const file of files) parts.push((await importCatalog(app, file, {}, now)).counts)
  return sumCounts([...parts, affiliates])
}
