import { constants, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { randomToken } from '../../src/platform/crypto/secrets.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { migrateDatabase } from '../../src/platform/db/migrate.ts'
import { openRateLimiter } from '../../src/platform/limits.ts'
import { openStore } from '../../src/sandbox/store/object-store.ts'

/** Names the migrated database of a test run to its workers and to the processes that they start. */
const variable = 'MIGRATED_DATABASE'

/** Migrates one database for the whole run: vitest calls this before the first test and the result after the last. */
export default function migrateOnce(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-migrated-'))
  const file = join(folder, 'shopstead.db')
  migrate(file)
  for (const name of besides) openBeside[name](join(folder, name)).close()
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

/** The databases beside the shop's, and what creates each. */
const openBeside = { 'limits.db': openRateLimiter, 'sandbox.db': openStore }
const besides = ['limits.db', 'sandbox.db'] as const

/**
 * Puts what a shop has beside its database into a new data folder: its secret key and the named databases. The product
 * would create them, but waits for the disk each time, which takes most of the start of a shop.
 */
export function createBeside(dataDir: string, names: readonly (keyof typeof openBeside)[] = besides): void {
  writeFileSync(join(dataDir, 'secret.key'), `${randomToken()}\n`, { mode: 0o600 })
  const migrated = process.env[variable]
  if (migrated === undefined) return
  for (const name of names) copyFileSync(join(dirname(migrated), name), join(dataDir, name), constants.COPYFILE_FICLONE)
}

function migrate(file: string): void {
  const db = openDatabase(file)
  migrateDatabase(db)
  // Closing folds the write-ahead log into the file, so that the file alone is the database.
  db.sqlite.close()
}
