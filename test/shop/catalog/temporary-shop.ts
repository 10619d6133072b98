import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openDatabase, write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { migrateDatabase } from '../../../src/platform/db/migrate.ts'
import { applyCatalogFile } from '../../../src/shop/catalog/apply-catalog.ts'
import type { CatalogResult } from '../../../src/shop/catalog/apply-catalog.ts'
import type { ApplyOptions } from '../../../src/shop/catalog/apply-product.ts'
import { readCatalogFile } from '../../../src/shop/catalog/import/read-file.ts'

export const noon = Date.UTC(2026, 5, 1, 12)

/** Creates a migrated, empty database on disk for one test. Another process can open its `file`. */
export function emptyShop(): Db & { file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-catalog-'))
  const file = join(folder, 'shopstead.db')
  const db = openDatabase(file)
  migrateDatabase(db)
  onTestFinished(() => {
    db.sqlite.close()
    rmSync(folder, { recursive: true })
  })
  return { ...db, file }
}

/** Imports a catalogue as the content of a JSON file, in EUR. */
export function apply(db: Db, content: unknown, options: Partial<ApplyOptions> & { now?: number } = {}): CatalogResult {
  const { file } = readCatalogFile(JSON.stringify(content), { currency: 'EUR' })
  const { now = noon, ...applyOptions } = options
  return write(db, (tx) => applyCatalogFile(tx, file, { keepStock: false, ...applyOptions }, now))
}

/** Creates a shop with these products and coupons. */
export function shopWith(content: unknown): Db & { file: string } {
  const db = emptyShop()
  apply(db, content)
  return db
}
