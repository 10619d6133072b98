import { join } from 'node:path'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { CheckResult } from '../../../src/operations/diagnosis/check.ts'
import { quietShop } from '../../operations/backup-support.ts'
import { shopstead } from '../../support/command-line.ts'
import { runShopstead } from '../../support/command-process.ts'
import { pathWithLitestream, startReplication } from '../../support/litestream.ts'

/** A shop that Litestream replicates to `address`; it ends with the test. */
export async function replicatedShop(address: string, env: Record<string, string> = {}) {
  const dataDir = await quietShop()
  const sqlite = new Database(join(dataDir, 'shopstead.db'))
  onTestFinished(() => void sqlite.close())
  const { json } = await shopstead<{ configuration: string }>(dataDir, ['replicate', '--to', address, '--json'])
  const replicate = () => startReplication(join(dataDir, '..'), json.configuration, env)
  const replication = await replicate()
  onTestFinished(() => replication.end('SIGKILL'))
  const rename = (slug: string): void => void sqlite.prepare('UPDATE products SET slug = ?').run(slug)
  return { dataDir, replication, replicate, rename, keyFile: join(dataDir, 'secret.key'), close: () => sqlite.close() }
}

/** Runs a command that finds Litestream. */
export const run = <Json = Record<string, unknown>>(
  dataDir: string,
  args: string[],
  env: Record<string, string> = {}
) => runShopstead<Json>(dataDir, [...args, '--json'], { env: { PATH: pathWithLitestream(), ...env } })

/** What `health` says about the replica. */
export async function replicaRow(dataDir: string, env: Record<string, string>): Promise<CheckResult | undefined> {
  const { json } = await run<{ checks: CheckResult[] }>(dataDir, ['health'], env)
  return json.checks.find(({ name }) => name === 'replica')
}
