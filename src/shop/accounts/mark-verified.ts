import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { emit } from '../webhooks/emit.ts'
import { getUnerasedUser } from './deactivate.ts'
import { endEmailTokens } from './email-tokens.ts'
import type { UserRow } from './rows.ts'
import { users } from './schema.ts'

/**
 * Records that the email belongs to the account's owner, ends the open verification links and emits `account.verified`.
 * An account that is already verified stays as it is.
 *
 * @throws AppError NOT_FOUND, CONFLICT for an erased account
 */
export function markVerified(tx: Tx, userId: number, now: number): { user: UserRow; changed: boolean } {
  const user = getUnerasedUser(tx, userId)
  if (user.emailVerifiedAt !== null && !user.verificationPending) return { user, changed: false }
  const change = { emailVerifiedAt: now, verificationPending: false, updatedAt: now }
  tx.orm.update(users).set(change).where(eq(users.id, userId)).run()
  endEmailTokens(tx, userId, now, 'verify')
  emit(tx, 'account.verified', { userId }, now)
  return { user: { ...user, ...change }, changed: true }
}
