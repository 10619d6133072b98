import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import type { App } from '../app.ts'
import { removeOldContent } from '../platform/db/old-content.ts'
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
import { holdsAccount, personalTexts } from './personal-traces.ts'

const recipientOf = z.object({ to: z.string() })

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
 * @throws AppError NOT_FOUND
 */
export function eraseEverywhere({ db, config }: Pick<App, 'db' | 'config'>, userId: number, now: number): Erased {
  const user = getUserById(db, userId)
  // What an erased account was is not known any more.
  const invoices = keptInvoices(db, user)
  const texts = user.status === 'erased' ? null : personalTexts(db, user)
  const { earlier, requested } = otherEmailsOf(db, userId)
  const recipients = new Set(emailKeysOf([user.email, ...earlier, ...requested]))
  const erased = erasePerson(db, userId, now)
  removeMailFiles(mailFolder(config.dataDir), recipients)
  const tracesRemoved = removeTraces(db, texts)
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

/** False while another process keeps the write-ahead log in use. */
function removeTraces(db: App['db'], texts: readonly string[] | null): boolean {
  try {
    return removeOldContent(db, texts)
  } catch (error) {
    if (isStorageError(error)) return false
    throw error
  }
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
