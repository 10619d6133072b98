import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { journal } from '../../src/platform/db/migrate.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A data folder with the golden database of the newest migration, which contains the demo shop. */
export function demoShop(): string {
  const dataDir = temporaryFolder()
  const golden = `test/golden/${journal().at(-1)?.tag}.db.gz`
  writeFileSync(join(dataDir, 'shopstead.db'), gunzipSync(readFileSync(golden)))
  return dataDir
}
