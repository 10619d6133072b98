import { mails } from '../mail/schema.ts'
import { and, eq, ne, or, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { eraseRows } from '../../platform/db/personal.ts'
import { emit } from '../webhooks/emit.ts'
import { getUserById } from './find.ts'
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
  endUserSessions(tx, userId)
  tx.orm.delete(emailTokens).where(eq(emailTokens.userId, userId)).run()
  tx.orm.delete(registrationProfiles).where(eq(registrationProfiles.userId, userId)).run()
  tx.orm.delete(registrationConsents).where(eq(registrationConsents.userId, userId)).run()
  eraseMails(tx, user)
  if (user.status === 'active') emit(tx, 'account.deactivated', { userId }, now)
  eraseRows(tx, users, eq(users.id, userId), { updatedAt: now })
  return getUserById(tx, userId)
}

/**
 * Deletes queued emails and removes the addresses of the account from sent ones: its own, those that it had before, and
 * those that it asked for. Of an earlier address, which may be another person's by now, it leaves what is queued.
 */
function eraseMails(tx: Tx, { id, emailKey }: UserRow): void {
  const toAccount = sql`json_extract(${mails.data}, '$.userId') = ${id}`
  const earlier = keysOf(otherEmailsOf(tx, id).earlier).map(sentTo)
  const toEarlier = earlier.length === 0 ? undefined : and(ne(mails.state, 'queued'), or(...earlier))
  const found = or(sentTo(emailKey), toAccount, toEarlier)
  tx.orm
    .delete(mails)
    .where(and(found, eq(mails.state, 'queued')))
    .run()
  eraseRows(tx, mails, found, { recipient: `erased-${id}@erased.invalid` })
}
