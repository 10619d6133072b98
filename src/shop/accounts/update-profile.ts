import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { setMarketingOptIn } from './consent.ts'
import { findUserById, getUserById } from './find.ts'
import type { ProfileInput } from './input.ts'
import type { UserRow } from './rows.ts'
import { registrationProfiles, users } from './schema.ts'

/**
 * Changes what a person may change of himself. Names go to the registration profile and to the core fields, as at
 * registration; a word on marketing rewrites its time and the biography.
 *
 * @throws AppError NOT_AUTHENTICATED when the account was shut or erased meanwhile
 */
export function updateProfile(tx: Tx, userId: number, input: ProfileInput, now: number): UserRow {
  if (findUserById(tx, userId)?.status !== 'active') throw new AppError('NOT_AUTHENTICATED', 'Please log in first.')
  const { marketingOptIn, ...fields } = input
  const { firstName, lastName } = fields
  // drizzle leaves out what is undefined, so a field that was not sent stays as it is.
  tx.orm
    .update(users)
    .set({ ...fields, updatedAt: now })
    .where(eq(users.id, userId))
    .run()
  if (firstName !== undefined || lastName !== undefined) {
    tx.orm
      .insert(registrationProfiles)
      .values({ userId, firstName, lastName })
      .onConflictDoUpdate({ target: registrationProfiles.userId, set: { firstName, lastName } })
      .run()
  }
  return marketingOptIn === undefined ? getUserById(tx, userId) : setMarketingOptIn(tx, userId, marketingOptIn, now)
}
