import Database from 'better-sqlite3'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { deleteUnfinished, unfinishedPath, syncFolderOf, syncToDisk } from '../../platform/files.ts'
import { failedVerification, inspectBackup } from './inspect.ts'
import { storeLostPayouts } from './lost-payouts.ts'
import type { Lost } from './lost-payouts.ts'
import { dropManifest } from './manifest.ts'

/** What Litestream stores beside the database. */
export const litestreamFolder = '.shopstead.db-litestream'

type Request = {
  file: string
  dataDir: string
  now: number
  testCopy?: (file: string) => void | Promise<void>
  onStep?: (step: string) => void
}

export type Restored = {
  file: string
  /** When the backup was made, in epoch milliseconds. Later changes are not in the restored shop. */
  createdAt: number
  /** Where the previous database is now; null when there was none. */
  kept: string | null
  /** Whether data/secret.key was restored; false when the backup's shop had its secret in the environment. */
  secretRestored: boolean
  /** Payouts to affiliates that only the replaced database knew, or knew to have failed; null when they are not known. */
  lostPayouts: Lost[] | null
}

/**
 * Replaces the shop's database with a backup. It verifies the backup first, requires that no other process has the
 * database open, and keeps the previous database beside the new one. If the process is killed at any moment, the folder
 * contains one of the two databases, whole.
 *
 * @throws AppError NOT_FOUND for a missing or unreadable backup; CONFLICT for a backup that fails verification, or while
 *   another process uses the database
 */
export async function restoreBackup({ file, dataDir, now, testCopy, onStep }: Request): Promise<Restored> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  deleteUnfinished(dataDir)
  onStep?.('verifying the backup')
  const { manifest } = inspectBackup(file)
  await testCopy?.(file)
  onStep?.('putting it in place')
  const draft = unfinishedPath(dataDir)
  try {
    stage(file, draft, manifest.digest)
    return withExclusiveUse(dataDir, (previous) => {
      const lostPayouts = storeLostPayouts(previous, draft)
      if (lostPayouts !== null && lostPayouts.length > 0) syncToDisk(draft)
      const suffix = `.before-restore-${new Date(now).toISOString().replaceAll(':', '-')}`
      if (manifest.secret !== null) putSecret(dataDir, manifest.secret, suffix)
      const kept = keepPrevious(dataDir, suffix)
      renameSync(draft, databaseIn(dataDir))
      forgetReplication(dataDir)
      syncFolderOf(databaseIn(dataDir))
      return { file, createdAt: manifest.createdAt, kept, secretRestored: manifest.secret !== null, lostPayouts }
    })
  } finally {
    rmSync(draft, { force: true })
    rmSync(`${draft}-journal`, { force: true })
  }
}

/** Copies the backup to `draft` as a plain database. @throws AppError CONFLICT if the backup changed after verification */
function stage(file: string, draft: string, digest: string): void {
  copyFileSync(file, draft)
  chmodSync(draft, 0o600)
  if (inspectBackup(draft).manifest.digest !== digest)
    throw failedVerification(file, 'it changed while it was being restored')
  const sqlite = new Database(draft)
  try {
    dropManifest(sqlite)
  } finally {
    sqlite.close()
  }
  syncToDisk(draft)
}

function databaseIn(dataDir: string): string {
  return join(dataDir, 'shopstead.db')
}

/**
 * Runs `work` while no other process has the shop open. Every process keeps both databases open in WAL mode, and SQLite
 * does not leave that mode while another connection exists; the locks end with their process. limits.db also detects a
 * running server when the shop's own database is too damaged to be locked.
 */
function withExclusiveUse<T>(dataDir: string, work: (previous: Database.Database | undefined) => T): T {
  const held: Database.Database[] = []
  try {
    const lock = (file: string): Database.Database | undefined => {
      const sqlite = lockExclusively(file)
      if (sqlite !== undefined) held.push(sqlite)
      return sqlite
    }
    const previous = lock(databaseIn(dataDir))
    lock(join(dataDir, 'limits.db'))
    return work(previous)
  } finally {
    for (const sqlite of held) sqlite.close()
  }
}

function lockExclusively(file: string): Database.Database | undefined {
  if (!existsSync(file)) return undefined
  const sqlite = new Database(file, { timeout: 500 })
  try {
    sqlite.pragma('journal_mode = DELETE')
    sqlite.exec('BEGIN EXCLUSIVE')
    return sqlite
  } catch (error) {
    sqlite.close()
    if (!(error instanceof Database.SqliteError)) throw error
    if (!/^SQLITE_(BUSY|LOCKED)/.test(error.code)) return undefined
    throw new AppError(
      'CONFLICT',
      `Another process uses ${file}: stop the server and other commands first.`,
      {},
      { cause: error }
    )
  }
}

/** Litestream begins a new generation for the restored database, and `serve` accepts this machine as the newest. */
function forgetReplication(dataDir: string): void {
  rmSync(join(dataDir, litestreamFolder), { recursive: true, force: true })
}

/** Keeps the old database under another name, with the log files that a damaged one may still have. */
function keepPrevious(dataDir: string, suffix: string): string | null {
  const database = databaseIn(dataDir)
  if (!existsSync(database)) return null
  const kept = `${database}${suffix}`
  linkSync(database, kept)
  // SQLite would apply a remaining write-ahead log to the restored database.
  for (const companion of ['-wal', '-shm', '-journal']) {
    if (existsSync(`${database}${companion}`)) renameSync(`${database}${companion}`, `${kept}${companion}`)
  }
  return kept
}

function putSecret(dataDir: string, secret: string, suffix: string): void {
  const file = join(dataDir, 'secret.key')
  if (existsSync(file)) {
    if (readFileSync(file, 'utf8') === secret) return
    linkSync(file, `${file}${suffix}`)
  }
  const draft = unfinishedPath(dataDir)
  writeFileSync(draft, secret, { flag: 'wx', mode: 0o600 })
  syncToDisk(draft)
  renameSync(draft, file)
}
