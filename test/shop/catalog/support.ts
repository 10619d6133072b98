import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { applyCatalogFile } from '../../../src/shop/catalog/apply-catalog.ts'
import type { CatalogResult } from '../../../src/shop/catalog/apply-catalog.ts'
import type { ApplyOptions } from '../../../src/shop/catalog/apply-product.ts'
import { readCatalogFile } from '../../../src/shop/catalog/import/read-file.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'
import type { TestDb } from '../../support/temporary-shop.ts'

/** Imports a catalog as the content of a JSON file, in EUR. */
export function apply(db: Db, content: unknown, options: Partial<ApplyOptions> & { now?: number } = {}): CatalogResult {
  const { file } = readCatalogFile(JSON.stringify(content), { currency: 'EUR', timeZone: 'UTC' })
  const { now = noon, ...applyOptions } = options
  return write(db, (tx) => applyCatalogFile(tx, file, { keepStock: false, ...applyOptions }, now))
}

/** Creates a shop with these products and coupons. */
export function shopWith(content: unknown): TestDb {
  const db = emptyShop()
  apply(db, content)
  return db
}
