/**
 * Generates a migration from the schema files with drizzle-kit and adds STRICT, which drizzle-kit does not support.
 * Usage: npm run db:generate -- --name what-changes [--custom]
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'

const folder = 'src/platform/db/migrations'
const before = new Set(globSync(`${folder}/*.sql`))
execFileSync(
  'npx',
  [
    'drizzle-kit',
    'generate',
    '--dialect',
    'sqlite',
    '--schema',
    'src/shop/*/schema.ts',
    '--out',
    folder,
    ...process.argv.slice(2)
  ],
  { stdio: 'inherit' }
)
for (const file of globSync(`${folder}/*.sql`)) {
  if (before.has(file)) continue
  const source = readFileSync(file, 'utf8')
  writeFileSync(file, source.replaceAll(/^(CREATE TABLE [^;]*\n\));/gm, '$1 STRICT;'))
}
