import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { startShop } from '../support/running-shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

export type Created = { file: string; bytes: number; createdAt: string; verified: boolean }

/** The data folder of a shop that sells a lantern. No server runs on it. */
export async function quietShop(): Promise<string> {
  const dataDir = join(temporaryFolder(), 'data')
  const shop = await startShop({ dataDir, seed: { products: [{ slug: 'lantern', name: 'Lantern', price: '12.50' }] } })
  await shop.stop()
  return dataDir
}

/** Makes a backup with the command line. */
export async function backUp(dataDir: string): Promise<Created> {
  const { json, code } = await shopstead<Created>(dataDir, ['backup', 'create', '--json'])
  expect(code).toBe(0)
  return json
}

/** The files of finished backups. */
export function finished(dataDir: string): string[] {
  const folder = join(dataDir, 'backups')
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : []
}

/** Changes the database, so that it differs from a backup made before. */
export function renameProduct(dataDir: string, slug: string): void {
  const sqlite = new Database(join(dataDir, 'shopstead.db'))
  sqlite.prepare('UPDATE products SET slug = ?').run(slug)
  sqlite.close()
}

/** The slug of the first product in a database file. */
export function slugIn(file: string): unknown {
  const sqlite = new Database(file, { readonly: true })
  try {
    return sqlite.prepare('SELECT slug FROM products').pluck().get()
  } finally {
    sqlite.close()
  }
}
