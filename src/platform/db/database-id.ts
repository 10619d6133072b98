import Database from 'better-sqlite3'

/** The id of an open database; null for one without tables. */
export function shopIdOf({ sqlite }: { sqlite: Database.Database }): string | null {
  const exists = sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'identity'").get()
  if (exists === undefined) return null
  return sqlite.prepare<[], string>('SELECT shop_id FROM identity').pluck().get() ?? null
}

/** The id of a migrated database. */
export function getShopId(db: { sqlite: Database.Database }): string {
  const id = shopIdOf(db)
  if (id === null) throw new Error('the database has no id')
  return id
}

/** The id of a database file, such as a backup. */
export function shopIdOfFile(file: string): string | null {
  const sqlite = new Database(file, { readonly: true, fileMustExist: true })
  try {
    return shopIdOf({ sqlite })
  } finally {
    sqlite.close()
  }
}
