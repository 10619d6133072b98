import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { journal } from '../../src/platform/db/migrate.ts'
import { runShopstead, temporaryFolder } from '../support/command-line.ts'

/** A folder with the demo shop as its golden database has it. */
function demoShop(): string {
  const dataDir = temporaryFolder()
  const golden = `test/golden/${journal().at(-1)?.tag}.db.gz`
  writeFileSync(join(dataDir, 'shopstead.db'), gunzipSync(readFileSync(golden)))
  return dataDir
}

/** Runs the command with a terminal (util-linux's `script`) as its standard error, its results going to a file. */
function watched(dataDir: string, args: readonly string[]): { status: number | null; seen: string; results: string } {
  const out = join(temporaryFolder(), 'out')
  const command = [process.execPath, 'bin/shopstead.js', ...args, '--data-dir', dataDir, '>', out].join(' ')
  const { status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' })
  return { status, seen: stdout, results: readFileSync(out, 'utf8') }
}

const long: [args: string[], step: string][] = [
  [['offers', 'import', 'seeds/offers.example.json', '--dry-run'], 'taking over'],
  [['offers', 'export'], 'reading the catalogue'],
  [['referrals', 'export'], 'reading referrals'],
  [['users', 'export', 'lena@shop.example'], 'gathering'],
  [['orders', 'reconcile'], 'asking the gateway']
]

test.each(long)('shopstead %j tells on a terminal what it is at, and clears the line', (args, step) => {
  const { status, seen, results } = watched(demoShop(), args)
  expect({ status, seen }).toEqual({ status: 0, seen: expect.stringContaining(step) })
  expect(seen.endsWith('\r\u001B[K')).toBe(true)
  expect(results).not.toContain('\u001B')
})

test.each(long)('shopstead %j says nothing but its result where nobody watches, or as JSON', async (args) => {
  const dataDir = demoShop()
  expect(await runShopstead(dataDir, args)).toMatchObject({ exitCode: 0, stderr: '' })
  expect(watched(dataDir, [...args, '--json']).seen).toBe('')
})
