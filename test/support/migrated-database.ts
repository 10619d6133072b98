import { constants, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openDatabase } from '../../src/platform/db/database.ts'
import { migrateDatabase } from '../../src/platform/db/migrate.ts'

/** Names the migrated database of a test run to its workers and to the processes that they start. */
const variable = 'MIGRATED_DATABASE'

/** Migrates one database for the whole run: vitest calls this before the first test and the result after the last. */
export default function migrateOnce(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-migrated-'))
  const file = join(folder, 'shopstead.db')
  migrate(file)
  process.env[variable] = file
  return () => rmSync(folder, { recursive: true, force: true })
}

/** Puts a migrated, empty database at `file` unless there is one: a copy of the run's own, which takes no time. */
export function createMigratedDatabase(file: string): void {
  if (existsSync(file)) return
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const migrated = process.env[variable]
  if (migrated === undefined) migrate(file)
  else copyFileSync(migrated, file, constants.COPYFILE_FICLONE)
}

function migrate(file: string): void {
  const db = openDatabase(file)
  migrateDatabase(db)
  // Closing folds the write-ahead log into the file, so that the file alone is the database.
  db.sqlite.close()
}
