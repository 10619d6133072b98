import Database from 'better-sqlite3'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Db } from '../../platform/db/database.ts'
import { syncFolderOf, syncToDisk } from '../../platform/disk.ts'
import { packageVersion } from '../../platform/package-root.ts'
import { backupFiles, backupName, clearForgottenDrafts, draftName, kindOf } from './files.ts'
import type { BackupKind } from './files.ts'
import { inspectBackup } from './inspect.ts'
import type { BackupInfo } from './inspect.ts'
import { writeManifest } from './manifest.ts'

type Request = {
  db: Db
  dataDir: string
  kind: BackupKind
  now: number
  /** A trial of the finished copy before it gets its name; what it throws, the backup fails by. */
  tryOut?: (file: string) => void | Promise<void>
  /** Told what is being done, for a person who waits. */
  onStep?: (step: string) => void
}

export function backupFolder(dataDir: string): string {
  return join(dataDir, 'backups')
}

/**
 * Copies the database, with the secret key in it, while others go on writing.
 *
 * By VACUUM INTO, which reads one snapshot: SQLite's backup API begins anew whenever another process writes between two
 * of its steps, and under a busy server never ends. What was deleted from the database is not in the copy either.
 *
 * The copy is made under a hidden name, verified, brought to the disk, and only then named; a process that is killed
 * leaves nothing that looks like a backup.
 */
export async function createBackup({ db, dataDir, kind, now, tryOut, onStep }: Request): Promise<BackupInfo> {
  const folder = backupFolder(dataDir)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  clearForgottenDrafts(folder)
  const draft = draftName(folder)
  try {
    onStep?.('copying the database')
    // SQLite takes an empty file as its target, so that the mode is right from the first byte.
    writeFileSync(draft, '', { flag: 'wx', mode: 0o600 })
    db.sqlite.prepare('VACUUM INTO ?').run(draft)
    finishCopy(draft, dataDir, now)
    syncToDisk(draft)
    onStep?.('verifying the copy')
    const { bytes } = inspectBackup(draft)
    await tryOut?.(draft)
    return { file: nameIt(draft, join(folder, backupName(kind, now))), bytes, createdAt: now, verified: true }
  } finally {
    rmSync(draft, { force: true })
    rmSync(`${draft}-journal`, { force: true })
  }
}

function finishCopy(draft: string, dataDir: string, now: number): void {
  const sqlite = new Database(draft)
  try {
    // One file without companions, that can be copied and opened anywhere.
    sqlite.pragma('journal_mode = DELETE')
    sqlite.pragma('synchronous = FULL')
    writeManifest(sqlite, { createdAt: now, program: packageVersion(), secret: readSecret(dataDir) })
  } finally {
    sqlite.close()
  }
}

function readSecret(dataDir: string): string | null {
  const file = join(dataDir, 'secret.key')
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

/** A link, unlike a rename, never replaces a backup that is already there. */
function nameIt(draft: string, file: string): string {
  linkSync(draft, file)
  syncFolderOf(file)
  return file
}

/** Removes the oldest scheduled backups beyond `keep`; those made by hand or by a migration are the operator's. */
export function thinOut(dataDir: string, keep: number): string[] {
  const scheduled = backupFiles(backupFolder(dataDir)).filter((file) => kindOf(file) === 'scheduled')
  const surplus = scheduled.slice(keep)
  for (const file of surplus) rmSync(file, { force: true })
  return surplus
}
