import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'

/**
 * Opens a copy of the whole shop in a file of the data folder, which is deleted when the copy is disposed of. An import that
 * runs on it shows exactly what it would do.
 */
export function copyShop({ sqlite }: Db, dataDir: string): { db: Db } & Disposable {
  const file = join(dataDir, `dry-run-${randomUUID()}.db`)
  const remove = (): void => {
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
  }
  try {
    sqlite.prepare('VACUUM INTO ?').run(file)
    const db = openDatabase(file)
    // The shop has its own cache beside this one.
    db.sqlite.pragma('cache_size = -8192')
    return {
      db,
      [Symbol.dispose]: () => {
        db.sqlite.close()
        remove()
      }
    }
  } catch (error) {
    remove()
    throw error
  }
}
