import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { App } from '../app.ts'
import { isStorageError } from '../platform/db/storage-errors.ts'
import { emailKey } from '../platform/email-key.ts'
import { mailFolder } from '../platform/mail/file-transport.ts'
import { getUserById } from '../shop/accounts/find.ts'
import type { UserRow } from '../shop/accounts/rows.ts'
import { erasePerson } from '../shop/customers/erase-person.ts'

const recipientOf = z.object({ to: z.string() })
const lockTimeoutMs = 5_000

/**
 * Erases a person as `erasePerson` does, and removes what is left of them in the data folder: their emails in mail/, and
 * the old content of changed rows in the database file and its log. Rewriting the file blocks other writes, for about
 * 1.5 seconds for each 100 MB. Backups stay as they are.
 *
 * @returns the erased account; how many guest orders had its email; whether the old content is gone (it stays while
 *   another program keeps the database busy or the disk is full; erasing again tries again)
 * @throws AppError NOT_FOUND
 */
export function eraseEverywhere(
  { db, config }: Pick<App, 'db' | 'config'>,
  userId: number,
  now: number
): { user: UserRow; guestOrders: number; tracesRemoved: boolean } {
  const { email } = getUserById(db, userId)
  const erased = erasePerson(db, userId, now)
  removeMailFiles(mailFolder(config.dataDir), emailKey(email))
  return { ...erased, tracesRemoved: removeOldContent(db) }
}

function removeMailFiles(folder: string, recipientKey: string): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const file = join(folder, name)
    if (emailKey(readRecipient(file)) === recipientKey) rmSync(file)
  }
}

/** Empty for a file that is not a message. */
function readRecipient(file: string): string {
  try {
    return recipientOf.parse(JSON.parse(readFileSync(file, 'utf8'))).to
  } catch {
    return ''
  }
}

/**
 * VACUUM copies the live rows to a new file, and the checkpoint empties the write-ahead log. `secure_delete` alone does not
 * reach what an older version deleted, or a copy that was left in a page when its row moved to another one.
 */
function removeOldContent({ sqlite }: App['db']): boolean {
  const before = Number(sqlite.pragma('busy_timeout', { simple: true }))
  sqlite.pragma(`busy_timeout = ${lockTimeoutMs}`)
  // In memory, the copy would need as much memory as the database has bytes.
  sqlite.pragma('temp_store = FILE')
  try {
    sqlite.exec('VACUUM')
    return sqlite.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0
  } catch (error) {
    if (isStorageError(error)) return false
    throw error
  } finally {
    sqlite.pragma('temp_store = MEMORY')
    sqlite.pragma(`busy_timeout = ${before}`)
  }
}
