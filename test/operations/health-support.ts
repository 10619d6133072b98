import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import type { App } from '../../src/app.ts'
import type { CheckResult } from '../../src/operations/diagnosis/check.ts'
import { diagnose } from '../../src/operations/diagnosis/diagnose.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

export type Env = Record<string, string>

export const silent = { debug() {}, info() {}, warn() {}, error() {} }
export const production: Env = {
  SHOPSTEAD_ENV: 'production',
  SHOPSTEAD_PUBLIC_URL: 'https://shop.example',
  SHOPSTEAD_PAYMENTS: 'manual'
}

export const configOf = (dataDir: string, env: Env = {}) =>
  parseConfig({ SHOPSTEAD_ENV: 'test', SHOPSTEAD_DATA_DIR: dataDir, SHOPSTEAD_LOG: 'silent', ...env })

/** The data folder of a migrated shop after `change`. No server runs on it. */
export function quietShop(change: (app: App) => void | Promise<void> = () => undefined): Promise<string> {
  const dataDir = join(temporaryFolder(), 'data')
  createMigratedDatabase(join(dataDir, 'shopstead.db'))
  const app = createApp(configOf(dataDir), { database: 'migrated' }, { log: silent })
  return Promise.resolve(change(app)).then(() => {
    app.close()
    return dataDir
  })
}

/** The result of one check of `shopstead health`. */
export async function checkOf(
  name: string,
  dataDir: string,
  env: Env = {},
  clock: Clock = systemClock
): Promise<CheckResult | undefined> {
  const { checks } = await diagnose(configOf(dataDir, env), { log: silent, lockTimeoutMs: 300, clock })
  return checks.find((check) => check.name === name)
}

/** Answers over https until `onEnd`, with a certificate of 2020-01-01 to 2020-03-31, and returns the address. */
export async function serveEnded(onEnd: (end: () => void) => void): Promise<string> {
  const pem = readFileSync(new URL('./health/ended-certificate.pem', import.meta.url))
  const server = createServer({ key: pem, cert: pem }, (_request, response) => response.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onEnd(() => void server.close())
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}
