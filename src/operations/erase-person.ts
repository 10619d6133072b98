import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { databaseFile } from '../app.ts'
import type { App } from '../app.ts'
import { isStorageError } from '../platform/db/storage-errors.ts'
import { emailKey } from '../platform/text.ts'
import { mailFolder } from '../platform/mail/file-transport.ts'
import { getUserById } from '../shop/accounts/find.ts'
import { emailKeysOf, otherEmailsOf } from '../shop/accounts/messages.ts'
import type { UserRow } from '../shop/accounts/rows.ts'
import { erasePerson } from '../shop/customers/erase-person.ts'
import { documentsOfPerson } from '../shop/orders/invoice-order.ts'
import { setting } from '../shop/settings/settings.ts'
import { backupFolder } from './backup/create.ts'
import { backupFiles } from './backup/manifest.ts'
import { fileContains, holdsAccount, personalTexts } from './personal-traces.ts'

const recipientOf = z.object({ to: z.string() })
const lockTimeoutMs = 5_000
/** Rewriting a larger file blocks other writes for longer than buyers should wait: 1.5 seconds for each 100 MB. */
const quicklyRewrittenBytes = 100 * 1024 * 1024

/** What is left of an erased person. */
type Erased = {
  /** The erased account. */
  user: UserRow
  /** How many guest orders had its email. */
  guestOrders: number
  /** How many invoices and credit notes still name the person, as the law requires; the last year in which they do. */
  invoices: { count: number; keptUntil: number | null }
  /** Whether the old content of changed rows is gone from the database file and its log. */
  tracesRemoved: boolean
  /** The names of the backups in the data folder that still contain the person. */
  backups: string[]
  /** The address of the replica, which contains the person until its copies of today are a day old; null without one. */
  replica: string | null
}

/**
 * Erases a person as `erasePerson` does, and removes what is left of them in the data folder: their emails in mail/, and
 * the old content of changed rows in the database file and its log. Backups and the replica stay as they are.
 *
 * @param rewrite rewrites the database file whatever its size, which blocks other writes for about 1.5 seconds for each
 *   100 MB. Otherwise only a file under 100 MB that still contains the person is rewritten
 * @throws AppError NOT_FOUND
 */
export function eraseEverywhere(
  { db, config }: Pick<App, 'db' | 'config'>,
  userId: number,
  { rewrite }: { rewrite: boolean },
  now: number
): Erased {
  const user = getUserById(db, userId)
  // What an erased account was is not known any more.
  const invoices = keptInvoices(db, user)
  const texts = user.status === 'erased' ? null : personalTexts(db, user)
  const { earlier, requested } = otherEmailsOf(db, userId)
  const recipients = new Set(emailKeysOf([user.email, ...earlier, ...requested]))
  const erased = erasePerson(db, userId, now)
  removeMailFiles(mailFolder(config.dataDir), recipients)
  const tracesRemoved = removeOldContent(db, (file) => rewrite || texts === null || fileContains(file, texts), {
    file: databaseFile(config),
    mostBytes: rewrite ? Infinity : quicklyRewrittenBytes
  })
  const backups = backupFiles(backupFolder(config.dataDir)).filter((file) => holdsAccount(file, userId))
  return {
    ...erased,
    invoices,
    tracesRemoved,
    backups: backups.map((file) => basename(file)),
    replica: config.replica?.address ?? null
  }
}

function keptInvoices(db: App['db'], user: UserRow): Erased['invoices'] {
  const years = documentsOfPerson(db, user).flatMap(({ buyer, year }) => (buyer === null ? [] : [year]))
  const keptUntil = years.length === 0 ? null : Math.max(...years) + setting(db, 'invoice.keepYears')
  return { count: years.length, keptUntil }
}

function removeMailFiles(folder: string, recipients: ReadonlySet<string>): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const file = join(folder, name)
    if (recipients.has(emailKey(readRecipient(file)))) rmSync(file)
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
 * The checkpoint writes the erased pages to the file and empties the write-ahead log. `secure_delete` has overwritten what
 * was deleted, but it does not reach what an older version deleted, or a copy that was left in a page when its row moved to
 * another one (about one person in 500). VACUUM removes those: it copies the live rows to a new file.
 */
function removeOldContent(
  { sqlite }: App['db'],
  needsRewrite: (file: string) => boolean,
  { file, mostBytes }: { file: string; mostBytes: number }
): boolean {
  const before = Number(sqlite.pragma('busy_timeout', { simple: true }))
  sqlite.pragma(`busy_timeout = ${lockTimeoutMs}`)
  try {
    if (!checkpoint(sqlite)) return false
    if (!needsRewrite(file)) return true
    if (statSync(file).size > mostBytes) return false
    // In memory, the copy would need as much memory as the database has bytes.
    sqlite.pragma('temp_store = FILE')
    sqlite.exec('VACUUM')
    return checkpoint(sqlite)
  } catch (error) {
    if (isStorageError(error)) return false
    throw error
  } finally {
    sqlite.pragma('temp_store = MEMORY')
    sqlite.pragma(`busy_timeout = ${before}`)
  }
}

function checkpoint(sqlite: App['db']['sqlite']): boolean {
  return sqlite.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0
}
