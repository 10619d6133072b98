import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { emit } from '../webhooks/emit.ts'
import { endEmailTokens } from './email-tokens.ts'
import { getUserById } from './find.ts'
import type { UserRow } from './rows.ts'
import { users } from './schema.ts'
import { endUserSessions } from './sessions.ts'

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

/**
 * The account with an id, unless it is erased.
 *
 * @throws AppError NOT_FOUND, CONFLICT for an erased account
 */
export function getUnerasedUser(db: Db, userId: number): UserRow {
  const user = getUserById(db, userId)
  if (user.status === 'erased') throw new AppError('CONFLICT', 'This account has been erased.')
  return user
}

function setStatus(tx: Tx, user: UserRow, status: 'active' | 'deactivated', now: number): UserRow {
  tx.orm.update(users).set({ status, updatedAt: now }).where(eq(users.id, user.id)).run()
  return { ...user, status, updatedAt: now }
}
