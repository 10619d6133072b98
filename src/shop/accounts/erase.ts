import { mails } from '../mail/schema.ts'
import { and, eq, ne, or, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { emit } from '../webhooks/emit.ts'
import { keysOf, otherEmailsOf, sentTo } from './messages.ts'
import type { UserRow } from './rows.ts'
import { emailTokens, registrationConsents, registrationProfiles, users } from './schema.ts'
import { endUserSessions } from './sessions.ts'

/**
 * Removes the personal data of an account: names, emails, biography, consent, links and messages. Its sessions end and
 * it cannot log in again. The row stays with a placeholder email, so that orders keep their customer's id.
 *
 * @param user an account that is not erased yet
 */
export function eraseAccount(tx: Tx, user: UserRow, now: number): UserRow {
  const { id: userId } = user
  const name = `erased-${userId}`
  const email = `${name}@erased.invalid`
  // A registration cannot contain the space, so it cannot occupy the key and block the erasure.
  const key = `erased ${userId}`
  endUserSessions(tx, userId)
  tx.orm.delete(emailTokens).where(eq(emailTokens.userId, userId)).run()
  tx.orm.delete(registrationProfiles).where(eq(registrationProfiles.userId, userId)).run()
  tx.orm.delete(registrationConsents).where(eq(registrationConsents.userId, userId)).run()
  eraseMails(tx, user, email)
  if (user.status === 'active') emit(tx, 'account.deactivated', { userId }, now)
  return tx.orm
    .update(users)
    .set({ ...nothing, email, emailKey: key, username: name, usernameKey: key, updatedAt: now })
    .where(eq(users.id, userId))
    .returning()
    .get()
}

/** The columns with personal data. A column that is added to the table must be added here. */
type Personal = Omit<UserRow, 'id' | 'email' | 'emailKey' | 'username' | 'usernameKey' | 'createdAt' | 'updatedAt'>

const nothing: Personal = {
  displayName: 'Erased',
  // This is not the hash of any password.
  passwordHash: '',
  status: 'erased',
  isAdmin: false,
  emailVerifiedAt: null,
  verificationPending: false,
  firstName: null,
  lastName: null,
  biography: null,
  billingEmail: null,
  billingPhone: null,
  companyName: null,
  address: null,
  marketingOptIn: 'no',
  marketingOptInAt: null,
  partnerOptIn: 'no',
  partnerOptInAt: null
}

/**
 * Deletes queued emails and removes the addresses of the account from sent ones: its own, those that it had before, and
 * those that it asked for. Of an earlier address, which may be another person's by now, it leaves what is queued.
 */
function eraseMails(tx: Tx, { id, emailKey }: UserRow, erasedEmail: string): void {
  const toAccount = sql`json_extract(${mails.data}, '$.userId') = ${id}`
  const earlier = keysOf(otherEmailsOf(tx, id).earlier).map(sentTo)
  const toEarlier = earlier.length === 0 ? undefined : and(ne(mails.state, 'queued'), or(...earlier))
  tx.orm
    .update(mails)
    .set({ recipient: erasedEmail, lastError: null })
    .where(or(sentTo(emailKey), toAccount, toEarlier))
    .run()
  tx.orm
    .delete(mails)
    .where(and(eq(mails.recipient, erasedEmail), eq(mails.state, 'queued')))
    .run()
}
