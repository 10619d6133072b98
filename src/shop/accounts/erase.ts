import { mails } from '../mail/schema.ts'
import { and, eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { emit } from '../outbox/emit.ts'
import { getUserById } from './find.ts'
import { sentTo } from './messages.ts'
import type { UserRow } from './rows.ts'
import { emailTokens, registrationConsents, registrationProfiles, users } from './schema.ts'
import { endUserSessions } from './sessions.ts'

/** Takes the person out of what stands above accounts (orders, affiliates) in the same transaction; `user` is as it was before. */
export type OnErased = (tx: Tx, user: UserRow, erasedEmail: string, now: number) => void

/**
 * Takes a person out of the shop: names, emails, biography, consent and links go, sessions end, and nobody can log in
 * any more. The row stays under a made-up email, so that orders keep their sums and their customer's number. It cannot
 * be undone; done twice it changes nothing.
 *
 * @throws AppError NOT_FOUND
 */
export function eraseUser(tx: Tx, userId: number, now: number, onErased: OnErased): UserRow {
  const user = getUserById(tx, userId)
  if (user.status === 'erased') return user
  const name = `erased-${userId}`
  const email = `${name}@erased.invalid`
  // With a space in it no registration can hold the key already, and so block the erasure.
  const key = `erased ${userId}`
  endUserSessions(tx, userId)
  tx.orm.delete(emailTokens).where(eq(emailTokens.userId, userId)).run()
  tx.orm.delete(registrationProfiles).where(eq(registrationProfiles.userId, userId)).run()
  tx.orm.delete(registrationConsents).where(eq(registrationConsents.userId, userId)).run()
  onErased(tx, user, email, now)
  // After what stands above, which may have had a last word to send.
  eraseMails(tx, user.emailKey, email)
  if (user.status === 'active') emit(tx, 'account.deactivated', { userId }, now)
  return tx.orm
    .update(users)
    .set({ ...nothing, email, emailKey: key, username: name, usernameKey: key, updatedAt: now })
    .where(eq(users.id, userId))
    .returning()
    .get()
}

/** What an account says of a person; a column that is added to the table has to be added here. */
type Personal = Omit<UserRow, 'id' | 'email' | 'emailKey' | 'username' | 'usernameKey' | 'createdAt' | 'updatedAt'>

const nothing: Personal = {
  displayName: 'Erased',
  // No password has this hash.
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
  marketingOptIn: 'no',
  marketingOptInAt: null,
  partnerOptIn: 'no',
  partnerOptInAt: null
}

/** Messages on their way are not sent any more; of those that were, the address goes. */
function eraseMails(tx: Tx, emailKey: string, erasedEmail: string): void {
  tx.orm
    .delete(mails)
    .where(and(sentTo(emailKey), eq(mails.state, 'queued')))
    .run()
  tx.orm.update(mails).set({ recipient: erasedEmail, lastError: null }).where(sentTo(emailKey)).run()
}
