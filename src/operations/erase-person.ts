import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { removeOldContent } from '../platform/db/old-content.ts'
import { isStorageError } from '../platform/db/storage-errors.ts'
import { emailKey } from '../platform/text.ts'
import { mailFolder } from '../platform/mail/file-transport.ts'
import { getUserById } from '../shop/accounts/find.ts'
import { emailKeysOf, otherEmailsOf } from '../shop/accounts/messages.ts'
import type { UserRow } from '../shop/accounts/rows.ts'
import { eraseGuest, erasePerson } from '../shop/customers/erase-person.ts'
import { renewalsOfGuest } from '../shop/customers/retention.ts'
import { countGuestOrders } from '../shop/orders/find.ts'
import type { Person } from '../shop/orders/find.ts'
import { endWithPeriod } from '../shop/payments/buyer-subscription.ts'
import { documentsOfPerson } from '../shop/orders/invoice-order.ts'
import { payoutsOfUser } from '../shop/payouts/find.ts'
import { setting } from '../shop/settings/settings.ts'
import { shopDay } from '../shop/settings/shop-days.ts'
import { backupFolder } from './backup/create.ts'
import { backupFiles } from './backup/manifest.ts'
import { holdsAccount, holdsGuest, personalTexts, textsOfGuest } from './personal-traces.ts'

const recipientOf = z.object({ to: z.string() })

/** An erased person, and what is left of them. */
export type Erased = {
  /** The erased account. */
  user: UserRow
  /** How many guest orders had its email. */
  guestOrders: number
  /** How many invoices, credit notes and statements of payouts still name the person, as the law requires; the last year in which they do. */
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
  return {
    ...erased,
    invoices,
    ...removeLeftovers({ db, config }, { recipients, texts, isIn: (file) => holdsAccount(file, userId) })
  }
}

/**
 * Erases a guest as `eraseGuest` does, after the subscriptions of their orders have ended at the gateway, and removes what
 * is left of them in the data folder, as for an account.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when a subscription could not be ended, CONFLICT while another process keeps the
 *   write-ahead log in use; then nothing is erased: a guest who is erased already cannot be found a second time
 */
export async function eraseGuestEverywhere(app: App, email: string): Promise<Omit<Erased, 'user'>> {
  const { db } = app
  const key = emailKey(email)
  if (!removeTraces(db, []))
    throw new AppError('CONFLICT', `The database's log is in use, for example by the replication. ${stopFirst}`)
  const invoices = keptInvoices(db, { id: null, emailKey: key })
  const guestOrders = countGuestOrders(db, key)
  const texts = textsOfGuest(db, key)
  for (const subscription of renewalsOfGuest(db, key)) await endWithPeriod(app, subscription, 'operator')
  eraseGuest(db, key)
  const leftovers = { recipients: new Set([key]), texts, isIn: (file: string) => holdsGuest(file, key) }
  return { guestOrders, invoices, ...removeLeftovers(app, leftovers) }
}

const stopFirst = 'Stop it ("systemctl stop shopstead-replica"), erase the guest, and start it again.'

type Leftovers = {
  /** The keys of the email addresses. */
  recipients: ReadonlySet<string>
  /** What to look for in unused bytes of the database; null for all of them. */
  texts: readonly string[] | null
  /** Whether a backup contains the person. */
  isIn: (backup: string) => boolean
}

function removeLeftovers(
  { db, config }: Pick<App, 'db' | 'config'>,
  { recipients, texts, isIn }: Leftovers
): Pick<Erased, 'tracesRemoved' | 'backups' | 'replica'> {
  removeMailFiles(mailFolder(config.dataDir), recipients)
  const tracesRemoved = removeTraces(db, texts)
  const backups = backupFiles(backupFolder(config.dataDir)).filter(isIn)
  return { tracesRemoved, backups: backups.map((file) => basename(file)), replica: config.replica?.address ?? null }
}

function keptInvoices(db: App['db'], person: Person): Erased['invoices'] {
  const invoiced = documentsOfPerson(db, person).flatMap(({ buyer, year }) => (buyer === null ? [] : [year]))
  const paid = person.id === null ? [] : payoutsOfUser(db, person.id)
  const named = paid.flatMap(({ payee, createdAt }) => (payee === null ? [] : [shopDay(db, createdAt)]))
  const years = [...invoiced, ...named.map((day) => Number(day.slice(0, 4)))]
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
