import { queueMail } from '../mail/queue-mail.ts'
import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { ShopContext } from '../context.ts'
import { getUnerasedUser } from './deactivate.ts'
import { endEmailTokens } from './email-tokens.ts'
import { assertPassword } from './password-rules.ts'
import type { UserRow } from './rows.ts'
import { users } from './schema.ts'
import { endUserSessions } from './sessions.ts'

/**
 * Replaces the password of an account. All sessions and open reset links end, and an email notifies the person
 * (ASVS 6.3.7).
 */
export function replacePassword(tx: Tx, userId: number, passwordHash: string, now: number): UserRow {
  const user = getUnerasedUser(tx, userId)
  tx.orm.update(users).set({ passwordHash, updatedAt: now }).where(eq(users.id, userId)).run()
  endUserSessions(tx, userId)
  endEmailTokens(tx, userId, now, 'reset')
  queueMail(tx, { template: 'password_changed', recipient: user.email, data: { userId } }, now)
  return { ...user, passwordHash, updatedAt: now }
}

/**
 * Sets the password of an account for an operator.
 *
 * @throws AppError CONFLICT for an erased account, PASSWORD_POLICY_VIOLATION
 */
export async function setPassword(shop: ShopContext, user: UserRow, password: string, now: number): Promise<UserRow> {
  await assertPassword(shop, password, getUnerasedUser(shop.db, user.id))
  const passwordHash = await shop.passwords.hash(password)
  return writeWhenFree(shop.db, (tx) => replacePassword(tx, user.id, passwordHash, now))
}
