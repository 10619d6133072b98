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
import { syncFolderOf, syncToDisk } from '../../platform/disk.ts'
import { clearForgottenDrafts, draftName } from './files.ts'
import { doubtful, inspectBackup } from './inspect.ts'
import { dropManifest } from './manifest.ts'

type Request = {
  file: string
  dataDir: string
  now: number
  tryOut?: (file: string) => void | Promise<void>
  onStep?: (step: string) => void
}

export type Restored = {
  file: string
  /** Epoch milliseconds up to which the restored shop knows what happened. */
  createdAt: number
  /** The database that was there before; null when there was none. */
  kept: string | null
  /** Whether data/secret.key was put back; false when the backup's shop had its secret in the environment. */
  secretRestored: boolean
}

/**
 * Puts a backup in the database's place. The backup is verified first, nobody else may have the database open, and what
 * was there stays beside it. Killed at any moment, the folder holds the one database or the other, whole.
 *
 * @throws AppError CONFLICT for a doubtful backup or a database in use.
 */
export async function restoreBackup({ file, dataDir, now, tryOut, onStep }: Request): Promise<Restored> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  clearForgottenDrafts(dataDir)
  onStep?.('verifying the backup')
  const { manifest } = inspectBackup(file)
  await tryOut?.(file)
  onStep?.('putting it in place')
  const draft = draftName(dataDir)
  try {
    stage(file, draft, manifest.digest)
    return withSoleUse(dataDir, () => {
      const suffix = `.before-restore-${new Date(now).toISOString().replaceAll(':', '-')}`
      if (manifest.secret !== null) putSecret(dataDir, manifest.secret, suffix)
      const kept = keepOld(dataDir, suffix)
      renameSync(draft, databaseIn(dataDir))
      syncFolderOf(databaseIn(dataDir))
      return { file, createdAt: manifest.createdAt, kept, secretRestored: manifest.secret !== null }
    })
  } finally {
    rmSync(draft, { force: true })
    rmSync(`${draft}-journal`, { force: true })
  }
}

/** Copies the backup and makes a plain database of it: as it was when it was verified, or not at all. */
function stage(file: string, draft: string, digest: string): void {
  copyFileSync(file, draft)
  chmodSync(draft, 0o600)
  if (inspectBackup(draft).manifest.digest !== digest) throw doubtful(file, 'it has changed meanwhile')
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
 * Runs `work` while no other process has the shop open. Each holds both databases open in WAL mode, which makes SQLite
 * refuse to leave that mode; locks end with their process, however it ends. limits.db tells also where the shop's own
 * database is too damaged to be asked.
 */
function withSoleUse<T>(dataDir: string, work: () => T): T {
  const held: Database.Database[] = []
  try {
    for (const file of [databaseIn(dataDir), join(dataDir, 'limits.db')]) {
      const lock = lockAlone(file)
      if (lock !== undefined) held.push(lock)
    }
    return work()
  } finally {
    for (const sqlite of held) sqlite.close()
  }
}

function lockAlone(file: string): Database.Database | undefined {
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
    throw new AppError('CONFLICT', `${file} is in use: stop the server and other commands first.`, {}, { cause: error })
  }
}

/** The old database under another name, with the companions that a damaged one may still have. */
function keepOld(dataDir: string, suffix: string): string | null {
  const database = databaseIn(dataDir)
  if (!existsSync(database)) return null
  const kept = `${database}${suffix}`
  linkSync(database, kept)
  // A write-ahead log that stayed would be taken for the restored database's own.
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
  const draft = draftName(dataDir)
  writeFileSync(draft, secret, { flag: 'wx', mode: 0o600 })
  syncToDisk(draft)
  renameSync(draft, file)
}
