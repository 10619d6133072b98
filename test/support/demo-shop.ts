import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { journal } from '../../src/platform/db/migrate.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A data folder with the golden database of the newest migration, which contains the demo shop. */
export function demoShop(): string {
  const dataDir = temporaryFolder()
  const golden = `test/golden/${journal().at(-1)?.tag}.db.gz`
  const file = join(dataDir, 'shopstead.db')
  writeFileSync(file, gunzipSync(readFileSync(golden)))
  const sqlite = new Database(file)
  // Payouts wait while there is a lost one.
  sqlite.exec('DELETE FROM lost_payouts')
  sqlite.close()
  return dataDir
}
