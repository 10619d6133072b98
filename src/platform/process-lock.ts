import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { isBusy } from './db/storage-errors.ts'

export type ProcessLock = { release(): void }

/**
 * Takes the lock that `file` stands for, or returns undefined if another holder has it after `waitMs`. Waiting blocks the
 * event loop.
 *
 * An open SQLite transaction holds the lock, so the kernel releases it when the process ends, also by SIGKILL, and no
 * process id can be mistaken for another. The transaction writes nothing: it works on a full disk.
 *
 * @throws SqliteError when the file cannot be opened
 */
export function takeLock(file: string, waitMs: number): ProcessLock | undefined {
  const sqlite = new Database(file, { timeout: waitMs })
  try {
    // The rollback journal would be a file.
    sqlite.pragma('journal_mode = MEMORY')
    // Exclusive, so that a connection that only reads notices the lock.
    sqlite.exec('BEGIN EXCLUSIVE')
    return { release: () => void sqlite.close() }
  } catch (error) {
    sqlite.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

/** Whether a process holds the lock. Creates and writes no file. @throws SqliteError when the file cannot be read */
export function isLockHeld(file: string): boolean {
  if (!existsSync(file)) return false
  const sqlite = new Database(file, { readonly: true, timeout: 0 })
  try {
    sqlite.pragma('schema_version')
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    sqlite.close()
  }
}
