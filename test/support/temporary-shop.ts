import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openDatabase } from '../../src/platform/db/database.ts'
import type { Db } from '../../src/platform/db/database.ts'
import { createMigratedDatabase } from './migrated-database.ts'
import { temporaryFolder } from './temporary-folder.ts'

export const noon = Date.UTC(2026, 5, 1, 12)
export type TestDb = Db & { file: string }

/** The migrated, empty database of a shop for one test, on disk; another process finds it at `file`. */
export function emptyShop(): TestDb {
  const file = join(temporaryFolder(), 'shopstead.db')
  createMigratedDatabase(file)
  const db = openDatabase(file)
  onTestFinished(() => void db.sqlite.close())
  return { ...db, file }
}
