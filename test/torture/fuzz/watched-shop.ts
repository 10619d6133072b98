import { mkdtempSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { openDatabase } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { settingKeys } from '../../../src/shop/settings/definitions.ts'
import { setSetting, unsetSetting } from '../../../src/shop/settings/settings.ts'
import { deriveKeys } from '../../../src/platform/crypto/secrets.ts'
import { demoPassword } from '../../../src/operations/seeding/logins.ts'
import type { Packed } from '../../support/packed.ts'
import { runPacked, servePacked } from '../packed-shop.ts'
import type { PackedServer } from '../packed-shop.ts'
import type { Trial } from '../part.ts'
import { cut } from './draft.ts'
import { Secrets } from './verify.ts'

/** A packed server with the demo shop, whose log and memory are checked. */
export type WatchedShop = {
  server: PackedServer
  dataDir: string
  secrets: Secrets
  webhookSecret: string
  /** Sets the default rate limits, or turns all limits off. */
  setLimits(on: boolean): void
  residentMb(): number
  /** Records the current memory as that of a warm server. */
  markWarm(): void
  /** Verifies the server's health, memory and database, and stops it. */
  verifyEnd(trial: Trial): Promise<void>
  /** The errors and leaks in the log since the last call. */
  logProblems(): string[]
}

/** Changes the settings in the database, which is faster than a command for each. The server sees the change immediately. */
function change(dataDir: string, apply: (db: Db) => void): void {
  const db = openDatabase(join(dataDir, 'shopstead.db'))
  apply(db)
  db.sqlite.close()
}

function setLimits(dataDir: string, on: boolean): void {
  const limits = settingKeys.filter((key) => key.startsWith('limits.'))
  change(dataDir, (db) => {
    for (const limit of limits) {
      if (on) unsetSetting(db, limit)
      else setSetting(db, limit, 'off', Date.now())
    }
  })
}

/** Starts a packed server with the demo shop and without rate limits. */
export async function openWatchedShop(
  packed: Packed,
  { payments = 'sandbox', storefront = false } = {}
): Promise<WatchedShop> {
  const dataDir = join(mkdtempSync(join(packed.folder, 'fuzz-')), 'data')
  const launch = { dataDir, env: { SHOPSTEAD_LOG: 'info', SHOPSTEAD_PAYMENTS: payments } }
  const run = async (...args: string[]): Promise<void> => {
    const { exitCode, stderr } = await runPacked(packed, launch, ...args)
    if (exitCode !== 0) throw new Error(`shopstead ${args.join(' ')} failed: ${stderr}`)
  }
  await run('init')
  await run('seed', '--demo')
  setLimits(dataDir, false)
  if (storefront) change(dataDir, (db) => setSetting(db, 'storefront.enabled', 'true', Date.now()))
  const server = await servePacked(packed, launch)
  const secret = readFileSync(join(dataDir, 'secret.key'), 'utf8').trim()
  const webhookSecret = `whsec_${deriveKeys(secret).sandboxWebhook.export().toString('base64url')}`
  const secrets = new Secrets()
  secrets.add('the secret key', secret)
  secrets.add('the webhook secret', webhookSecret.slice('whsec_'.length))
  secrets.add('a password', demoPassword)
  for (const place of [dataDir, packed.folder, process.cwd(), homedir()]) secrets.add('a local path', place)
  let warmMb = 0
  let lines = 0
  const logProblems = (): string[] => {
    const newLines = server.errors.splice(0)
    lines += newLines.length
    return newLines.flatMap((line) => verifyLogLine(line, secrets))
  }
  return {
    server,
    dataDir,
    secrets,
    webhookSecret,
    setLimits: (on) => setLimits(dataDir, on),
    residentMb: () => residentMb(server),
    markWarm: () => void (warmMb = residentMb(server)),
    logProblems,
    async verifyEnd(trial) {
      await verifyHealth(server, trial)
      verifyMemory(warmMb, residentMb(server), trial)
      const ended = await server.end()
      if (ended !== 0) trial.violation(`after SIGTERM the server ended with ${String(ended)}`)
      for (const problem of new Set(logProblems())) trial.violation(`at the end: ${problem}`)
      trial.figure(`${lines} lines of its log checked`)
      verifyDatabase(dataDir, trial)
    }
  }
}

async function verifyHealth({ apiRoot, ended }: PackedServer, trial: Trial): Promise<void> {
  const gone = await Promise.race([ended, sleep(0, undefined)])
  if (gone !== undefined) trial.violation(`the server ended unexpectedly: ${String(gone)}`)
  const { status } = await fetch(`${apiRoot}/health`).catch(() => ({ status: 0 }))
  if (status !== 200) trial.violation(`/health returns ${status} at the end`)
}

/** How much a warm server may grow, because the heap and SQLite's cache vary. */
const toleranceMb = 60

function verifyMemory(warmMb: number, endMb: number, trial: Trial): void {
  trial.figure(`resident memory: ${warmMb} MB when warm, ${endMb} MB at the end`)
  if (endMb > warmMb + toleranceMb) trial.violation(`the memory grew from ${warmMb} to ${endMb} MB`)
}

function verifyDatabase(dataDir: string, trial: Trial): void {
  const db = new Database(join(dataDir, 'shopstead.db'), { readonly: true })
  const integrity = db.pragma('integrity_check', { simple: true })
  const orphans = db.pragma('foreign_key_check') as unknown[]
  db.close()
  if (integrity !== 'ok' || orphans.length > 0)
    trial.violation(`the database is damaged: ${String(integrity)}, ${orphans.length} orphans`)
}

/** Error lines and leaks in the log. No request may cause an internal error. */
function verifyLogLine(line: string, secrets: Secrets): string[] {
  // Without a mail server, the log says where emails are. A stack line belongs to the error before it.
  if (line.includes('a message was written to a file') || /^\s+at /.test(line)) return []
  const leaks = secrets.leaksIn(line).map((what) => `${what} in the log: ${cut(line, 600)}`)
  return /^\s*(\[error\]|ERROR|\[fatal\]|\[fail\])/i.test(line) ? [`an error in the log: ${cut(line, 600)}`] : leaks
}

/** Resident memory of a process in MB. */
function residentMb({ child }: PackedServer): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024)
}
