import { databaseFile } from '../app.ts'
import type { Config } from '../platform/config/config.ts'
import { openDatabase } from '../platform/db/database.ts'
import { slugsFrom } from '../shop/catalog/manage/list-products.ts'

const most = 100

/** Slugs of products that begin with a text, a hundred at most, for completion. @throws SqliteError without a database */
export function slugsBeginning(config: Config, start: string): { slug: string; name: string }[] {
  const db = openDatabase(databaseFile(config), { mustExist: true, readonly: true })
  try {
    return slugsFrom(db, start, most)
  } finally {
    db.sqlite.close()
  }
}
