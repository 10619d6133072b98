import { eq } from 'drizzle-orm'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { getUnerasedUser } from './deactivate.ts'
import type { UserRow } from './rows.ts'
import { users } from './schema.ts'
import { endUserSessions } from './sessions.ts'

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
