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
import { Secrets } from './judge.ts'

/** A server of the package with the demo shop in it, whose log and memory are looked at all the time. */
export type WatchedShop = {
  server: PackedServer
  dataDir: string
  secrets: Secrets
  webhookSecret: string
  /** Puts the limits that a shop has from the start into force, or takes them off. */
  limit(on: boolean): void
  residentMb(): number
  /** Notes how much memory it has at this moment, when everything has been asked of it once. */
  markWarm(): void
  /** Whether it is still there and well, its memory, and what it keeps. */
  judgeEnd(trial: Trial): Promise<void>
  /** What its log has told since the last time that must not stand there. */
  complaints(): string[]
}

/** Changes settings beside the server, which sees them at once; a command for each would take longer than what it is for. */
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

export async function openWatchedShop(
  packed: Packed,
  { payments = 'sandbox', storefront = false } = {}
): Promise<WatchedShop> {
  const dataDir = join(mkdtempSync(join(packed.folder, 'fuzz-')), 'data')
  const launch = { dataDir, env: { SHOPSTEAD_LOG: 'info', SHOPSTEAD_PAYMENTS: payments } }
  const run = async (...words: string[]): Promise<void> => {
    const { exitCode, stderr } = await runPacked(packed, launch, ...words)
    if (exitCode !== 0) throw new Error(`shopstead ${words.join(' ')} failed: ${stderr}`)
  }
  await run('migrate')
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
  for (const place of [dataDir, packed.folder, process.cwd(), homedir()]) secrets.add('a path of the machine', place)
  let warmMb = 0
  let lines = 0
  const complaints = (): string[] => {
    const told = server.errors.splice(0)
    lines += told.length
    return told.flatMap((line) => judgeLine(line, secrets))
  }
  return {
    server,
    dataDir,
    secrets,
    webhookSecret,
    limit: (on) => setLimits(dataDir, on),
    residentMb: () => residentMb(server),
    markWarm: () => void (warmMb = residentMb(server)),
    complaints,
    async judgeEnd(trial) {
      await judgeHealth(server, trial)
      judgeMemory(warmMb, residentMb(server), trial)
      const ended = await server.end()
      if (ended !== 0) trial.violation(`The server did not end well: ${String(ended)}`)
      for (const complaint of new Set(complaints())) trial.violation(`at the end: ${complaint}`)
      trial.figure(`${lines} lines of its log looked at`)
      judgeDatabase(dataDir, trial)
    }
  }
}

async function judgeHealth({ apiRoot, ended }: PackedServer, trial: Trial): Promise<void> {
  const gone = await Promise.race([ended, sleep(0, undefined)])
  if (gone !== undefined) trial.violation(`The server has ended by itself: ${String(gone)}`)
  const { status } = await fetch(`${apiRoot}/health`).catch(() => ({ status: 0 }))
  if (status !== 200) trial.violation(`/health answers ${status} in the end.`)
}

/** By how much a warm server may grow: the heap and SQLite's cache breathe. */
const breathMb = 60

function judgeMemory(warmMb: number, endMb: number, trial: Trial): void {
  trial.figure(`resident memory: ${warmMb} MB when warm, ${endMb} MB in the end`)
  if (endMb > warmMb + breathMb) trial.violation(`Memory grew from ${warmMb} to ${endMb} MB.`)
}

function judgeDatabase(dataDir: string, trial: Trial): void {
  const db = new Database(join(dataDir, 'shopstead.db'), { readonly: true })
  const integrity = db.pragma('integrity_check', { simple: true })
  const orphans = db.pragma('foreign_key_check') as unknown[]
  db.close()
  if (integrity !== 'ok' || orphans.length > 0)
    trial.violation(`The database is damaged: ${String(integrity)}, ${orphans.length} orphans`)
}

/** Every line that is an error's, and every leak: nothing that anybody sends may be a fault of the server's. */
function judgeLine(line: string, secrets: Secrets): string[] {
  // Where there is no mail server the operator is told where the messages are; and a stack belongs to the error before.
  if (line.includes('a message was written to a file') || /^\s+at /.test(line)) return []
  const leaks = secrets.leaksIn(line).map((what) => `${what} in the log: ${cut(line, 600)}`)
  return /^\s*(\[error\]|ERROR|\[fatal\]|\[fail\])/i.test(line) ? [`an error in the log: ${cut(line, 600)}`] : leaks
}

/** Resident memory of a process in MB. */
function residentMb({ child }: PackedServer): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024)
}
