import { AppError } from '../errors.ts'
import { syncWrites, write, writeUnsynced } from '../platform/db/database.ts'
import type { Db, Tx } from '../platform/db/database.ts'
import { restAfter } from '../platform/clock.ts'
import { isStorageError } from '../platform/db/storage-errors.ts'
import { applyCampaigns, applyPlans } from '../shop/benefits/plans.ts'
import { applyCatalogFile } from '../shop/catalog/apply-catalog.ts'
import { CategoryTree, hasStaleProducts } from '../shop/catalog/category-tree.ts'
import { sumCounts } from '../shop/catalog/changes.ts'
import type { Change, CountsByKind } from '../shop/catalog/changes.ts'
import { emptyLists } from '../shop/catalog/import/format.ts'
import type { CatalogFile } from '../shop/catalog/import/format.ts'
import { productUrl } from '../shop/catalog/product-url.ts'
import type { ShopContext } from '../shop/context.ts'
import { copyCatalog } from './catalog-copy.ts'
import { applyShipping } from '../shop/shipping/zones.ts'
import { applyTaxRates } from '../shop/tax/rates.ts'

export type AppliedCatalog = { counts: CountsByKind; changes: Change[] }

export type ImportOptions = {
  /** Returns the result without changing anything. */
  dryRun?: boolean
  /** Sets the stock of existing products, too. Otherwise it stays, since orders have taken from it. */
  withStock?: boolean
  /** Receives the number of products that are imported. */
  onProgress?: (done: number) => void
  /** Called when the shop begins to change. Its signal stops the import between two transactions. */
  interruption?: () => { signal: AbortSignal } & Disposable
}

/**
 * The number of products or coupons in one transaction of an import. Checkouts wait for the lock while it runs, about
 * 4 ms, and a checkout needs the lock several times.
 */
export const importBatch = 5
/** The share of the time in which an import holds the lock. */
const share = 1 / 2

/**
 * Imports a catalog file while the shop sells. It first applies the whole file to a copy of the catalog, so a file
 * with an error changes nothing. Then it applies the file to the shop in transactions of `importBatch` products, and
 * leaves the lock to others for as long as each took. Only its end waits for the disk, because an import can be repeated.
 * Affiliates belong to accounts and are left to seeding.
 *
 * @throws AppError VALIDATION_FAILED or CONFLICT for an invalid file, before anything changes; CONFLICT with
 *   `details.imported` when it stops in the middle: the same import continues there
 */
export async function importCatalog(
  shop: ShopContext,
  file: CatalogFile,
  options: ImportOptions,
  now: number
): Promise<AppliedCatalog> {
  const keepStock = options.withStock !== true
  const apply = (part: CatalogFile, updatesLater: boolean) => (tx: Tx) =>
    applyCatalog(shop, tx, part, { keepStock, updatesLater }, now)
  const rehearsal = (): AppliedCatalog => rehearse(shop.db, (copy) => write(copy, apply(file, false)))
  if (options.dryRun === true) return rehearsal()
  rehearsal()
  const applied: AppliedCatalog[] = []
  let done = 0
  using stop = options.interruption?.()
  try {
    for (const part of inBatches(file)) {
      stop?.signal.throwIfAborted()
      const startedAt = performance.now()
      applied.push(writeUnsynced(shop.db, apply(part, true)))
      done += part.products.length
      options.onProgress?.(done)
      await restAfter(startedAt, share)
      await updateCategories(shop.db, stop?.signal)
    }
  } catch (cause) {
    throw stoppedAfter(done, file, cause)
  }
  syncWrites(shop.db)
  return { counts: sumCounts(applied.map(({ counts }) => counts)), changes: applied.flatMap(({ changes }) => changes) }
}

/** Updates the products of renamed and moved categories, in transactions like those of the import. */
async function updateCategories(db: Db, signal: AbortSignal | undefined): Promise<void> {
  while (hasStaleProducts(db)) {
    signal?.throwIfAborted()
    const startedAt = performance.now()
    writeUnsynced(db, (tx) => new CategoryTree(tx).updateProducts(importBatch))
    await restAfter(startedAt, share)
  }
}

function rehearse<T>(db: Db, work: (copy: Db) => T): T {
  const copy = copyCatalog(db)
  try {
    return work(copy)
  } finally {
    copy.sqlite.close()
  }
}

/** The file in parts that are applied one after the other: what is small, the products, and the coupons, which name products. */
function inBatches(file: CatalogFile): CatalogFile[] {
  const empty = { ...emptyLists, folder: file.folder }
  return [
    { ...file, products: [], coupons: [] },
    ...chunks(file.products).map((products) => ({ ...empty, products })),
    ...chunks(file.coupons).map((coupons) => ({ ...empty, coupons }))
  ]
}

function chunks<T>(list: readonly T[]): T[][] {
  const count = Math.ceil(list.length / importBatch)
  return Array.from({ length: count }, (_, index) => list.slice(index * importBatch, (index + 1) * importBatch))
}

/** An error that the same import overcomes later becomes one that says where it stopped. */
function stoppedAfter(done: number, { products }: CatalogFile, cause: unknown): unknown {
  const isStorage = isStorageError(cause)
  if (!isStorage && !(cause instanceof AppError) && !isAbort(cause)) return cause
  const reason = isAbort(cause) ? '' : ` ${cause instanceof Error ? cause.message : ''}`
  return new AppError(
    isStorage ? 'DEPENDENCY_UNAVAILABLE' : 'CONFLICT',
    `The import stopped after ${done} of ${products.length} products.${reason} Run it again: it continues there.`,
    { imported: done, products: products.length },
    { cause }
  )
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/**
 * Creates or updates plans, campaigns, categories, products, coupons, shipping zones and tax rates from a catalog
 * file, in one transaction.
 *
 * @param options.keepStock existing products keep their stock, so that seeding again does not undo sales
 * @param options.updatesLater leaves the products of renamed and moved categories to `updateCategories`
 * @throws AppError VALIDATION_FAILED or CONFLICT for an invalid file
 */
export function applyCatalog(
  shop: ShopContext,
  tx: Tx,
  file: CatalogFile,
  options: { keepStock: boolean; updatesLater?: boolean },
  now: number
): AppliedCatalog {
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
