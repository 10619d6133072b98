import { eq, and, ne, or, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { emit } from '../webhooks/emit.ts'
import { endEmailTokens } from './email-tokens.ts'
import { getUnerasedUser, getUserById } from './find.ts'
import type { UserRow } from './rows.ts'
import { users, emailTokens, registrationConsents, registrationProfiles } from './schema.ts'
import { endUserSessions } from './sessions.ts'
import { mails } from '../mail/schema.ts'
import { eraseRows } from '../../platform/db/personal.ts'
import { emailKeysOf, otherEmailsOf, sentTo } from './messages.ts'

/**
 * Deactivates an account: its sessions and open links end in the same transaction, and it cannot log in.
 *
 * @throws AppError NOT_FOUND, CONFLICT for an erased account
 */
export function deactivateUser(db: Db, userId: number, now: number): UserRow {
  return write(db, (tx) => {
    const user = getUnerasedUser(tx, userId)
    if (user.status === 'deactivated') return user
    endUserSessions(tx, userId)
    endEmailTokens(tx, userId, now)
    emit(tx, 'account.deactivated', { userId }, now)
    return setStatus(tx, user, 'deactivated', now)
  })
}

/** Activates a deactivated account. @throws AppError NOT_FOUND, CONFLICT for an erased account */
export function activateUser(db: Db, userId: number, now: number): UserRow {
  return write(db, (tx) => {
    const user = getUnerasedUser(tx, userId)
    return user.status === 'active' ? user : setStatus(tx, user, 'active', now)
  })
}

function setStatus(tx: Tx, user: UserRow, status: 'active' | 'deactivated', now: number): UserRow {
  tx.orm.update(users).set({ status, updatedAt: now }).where(eq(users.id, user.id)).run()
  return { ...user, status, updatedAt: now }
}

/**
 * Removes the personal data of an account: names, emails, biography, consent, links and messages. Its sessions end and
 * it cannot log in again. The row stays with a placeholder email, so that orders keep their customer's id.
 *
 * @param user an account that is not erased yet
 */
export function eraseAccount(tx: Tx, user: UserRow, now: number): UserRow {
  const { id: userId } = user
  endUserSessions(tx, userId)
  tx.orm.delete(emailTokens).where(eq(emailTokens.userId, userId)).run()
  tx.orm.delete(registrationProfiles).where(eq(registrationProfiles.userId, userId)).run()
  tx.orm.delete(registrationConsents).where(eq(registrationConsents.userId, userId)).run()
  eraseMails(tx, user)
  if (user.status === 'active') emit(tx, 'account.deactivated', { userId }, now)
  eraseRows(tx, users, eq(users.id, userId), { updatedAt: now })
  return getUserById(tx, userId)
}

/** Deletes the queued emails to an address and removes it from sent ones. */
export function eraseMailsTo(tx: Tx, emailKey: string): void {
  eraseMailsWhere(tx, sentTo(emailKey))
}

function eraseMailsWhere(tx: Tx, found: SQL | undefined, changes = {}): void {
  tx.orm
    .delete(mails)
    .where(and(found, eq(mails.state, 'queued')))
    .run()
  eraseRows(tx, mails, found, changes)
}

/**
 * Deletes queued emails and removes the addresses of the account from sent ones: its own, those that it had before, and
 * those that it asked for. Of an earlier address, which may be another person's by now, it leaves what is queued.
 */
function eraseMails(tx: Tx, { id, emailKey }: UserRow): void {
  const toAccount = sql`json_extract(${mails.data}, '$.userId') = ${id}`
  const earlier = emailKeysOf(otherEmailsOf(tx, id).earlier).map(sentTo)
  const toEarlier = earlier.length === 0 ? undefined : and(ne(mails.state, 'queued'), or(...earlier))
  eraseMailsWhere(tx, or(sentTo(emailKey), toAccount, toEarlier), { recipient: `erased-${id}@erased.invalid` })
}

/**
 * Grants or revokes the administrator role. Both end the user's sessions, so that the rights of a session never change.
 *
 * @throws AppError NOT_FOUND, CONFLICT for an erased account
 */
export function setAdministrator(
  db: Db,
  userId: number,
  isAdmin: boolean,
  now: number
): { user: UserRow; changed: boolean } {
  return write(db, (tx) => {
    const user = getUnerasedUser(tx, userId)
    if (user.isAdmin === isAdmin) return { user, changed: false }
    tx.orm.update(users).set({ isAdmin, updatedAt: now }).where(eq(users.id, userId)).run()
    endUserSessions(tx, userId)
    return { user: { ...user, isAdmin, updatedAt: now }, changed: true }
  })
}

/** Every administrator. */
export function listAdministrators(db: Db): UserRow[] {
  return db.orm.select().from(users).where(eq(users.isAdmin, true)).orderBy(users.id).all()
}
