import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Db } from '../../platform/db/database.ts'
import { deleteUnfinished, unfinishedPath, syncFolderOf, syncToDisk } from '../../platform/files.ts'
import { packageVersion } from '../../platform/package-root.ts'
import { inspectBackup } from './inspect.ts'
import type { InspectedBackup } from './inspect.ts'
import { backupFiles, backupName, kindOf, writeManifest } from './manifest.ts'
import type { BackupKind } from './manifest.ts'

type Request = {
  db: Db
  dataDir: string
  kind: BackupKind
  now: number
  /** Tests the finished copy before it gets its final name. If it throws, the backup fails with that error. */
  testCopy?: (file: string) => void | Promise<void>
  /** Receives the name of each step, for the operator who waits. */
  onStep?: (step: string) => void
}

/** The folder of a shop's backups, data/backups. */
export function backupFolder(dataDir: string): string {
  return join(dataDir, 'backups')
}

/**
 * Copies the database to data/backups and adds the secret key, while other processes continue to write.
 *
 * VACUUM INTO reads one snapshot. SQLite's backup API would start over whenever another process writes between two of
 * its steps, and would never finish under a busy server. The copy does not contain deleted data.
 *
 * The copy has a hidden name until it is verified and synced to disk, so a killed process leaves nothing that looks like
 * a backup.
 *
 * @throws AppError CONFLICT when the copy fails verification
 */
export async function createBackup({ db, dataDir, kind, now, testCopy, onStep }: Request): Promise<InspectedBackup> {
  const folder = backupFolder(dataDir)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  deleteUnfinished(folder)
  const draft = unfinishedPath(folder)
  try {
    onStep?.('copying the database')
    // VACUUM INTO accepts an existing empty file, so the mode is private from the first byte.
    writeFileSync(draft, '', { flag: 'wx', mode: 0o600 })
    db.sqlite.prepare('VACUUM INTO ?').run(draft)
    finishCopy(draft, now, readSecret(dataDir))
    syncToDisk(draft)
    onStep?.('verifying the copy')
    const { bytes, additions } = inspectBackup(draft, { isMeasured: true })
    await testCopy?.(draft)
    return {
      file: publish(draft, join(folder, backupName(kind, now))),
      bytes,
      createdAt: now,
      verified: true,
      additions
    }
  } finally {
    rmSync(draft, { force: true })
    rmSync(`${draft}-journal`, { force: true })
  }
}

/**
 * Turns a copy of a database into a backup.
 *
 * @param createdAt the state that it has, in epoch milliseconds
 * @param secret the content of secret.key; null when the secret comes from the environment
 */
export function finishCopy(draft: string, createdAt: number, secret: string | null): void {
  const sqlite = new Database(draft)
  try {
    // Without WAL, the backup is a single file that opens anywhere.
    sqlite.pragma('journal_mode = DELETE')
    sqlite.pragma('synchronous = FULL')
    // Litestream adds these tables to a database that it replicates, and creates them again when they are missing.
    sqlite.exec('DROP TABLE IF EXISTS _litestream_seq; DROP TABLE IF EXISTS _litestream_lock')
    writeManifest(sqlite, { createdAt, program: packageVersion(), secret })
  } finally {
    sqlite.close()
  }
}

/** The content of a data folder's secret.key; null without one. */
export function readSecret(dataDir: string): string | null {
  const file = join(dataDir, 'secret.key')
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

/** A link, unlike a rename, never replaces an existing backup. */
function publish(draft: string, file: string): string {
  linkSync(draft, file)
  syncFolderOf(file)
  return file
}

/**
 * Deletes the oldest scheduled backups beyond `keep` and returns their paths. It leaves the backups that an operator or
 * a migration made.
 */
export function pruneBackups(dataDir: string, keep: number): string[] {
  const scheduled = backupFiles(backupFolder(dataDir)).filter((file) => kindOf(file) === 'scheduled')
  const surplus = scheduled.slice(keep)
  for (const file of surplus) rmSync(file, { force: true })
  return surplus
}
