import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { countAccountChange } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'
import { setMarketingOptIn } from './create-user.ts'
import { findUserById, getUserById } from './find.ts'
import type { ProfileInput } from './input.ts'
import type { UserRow } from './rows.ts'
import { registrationProfiles, users } from './schema.ts'

/**
 * Changes the fields that a person may change in their account. Names change in the registration profile and in the
 * core fields, as at registration. `marketingOptIn` also sets its time and updates the biography.
 *
 * @throws AppError RATE_LIMITED (account_change), NOT_AUTHENTICATED when the account was deactivated or erased concurrently
 */
export async function updateProfile(shop: Limits, userId: number, input: ProfileInput, now: number): Promise<UserRow> {
  await countAccountChange(shop, userId)
  return writeWhenFree(shop.db, (tx) => {
    if (findUserById(tx, userId)?.status !== 'active') throw new AppError('NOT_AUTHENTICATED', 'Please log in first.')
    const { marketingOptIn, ...fields } = input
    storeFields(tx, userId, fields, now)
    return marketingOptIn === undefined
      ? getUserById(tx, userId)
      : setMarketingOptIn(tx, userId, marketingOptIn, 'account', now)
  })
}

/** Stores fields of an account. Drizzle ignores undefined values, so a field that was not sent does not change. */
export function storeFields(tx: Tx, userId: number, fields: Omit<ProfileInput, 'marketingOptIn'>, now: number): void {
  tx.orm
    .update(users)
    .set({ ...fields, updatedAt: now })
    .where(eq(users.id, userId))
    .run()
  const { firstName, lastName } = fields
  if (firstName === undefined && lastName === undefined) return
  tx.orm
    .insert(registrationProfiles)
    .values({ userId, firstName, lastName })
    .onConflictDoUpdate({ target: registrationProfiles.userId, set: { firstName, lastName } })
    .run()
}
