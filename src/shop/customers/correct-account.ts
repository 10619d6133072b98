import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/text.ts'
import { getUnerasedUser, findUserByEmail, getUserById } from '../accounts/find.ts'
import type { ProfileInput } from '../accounts/input.ts'
import { isReserved, markVerified, queueLink } from '../accounts/email-tokens.ts'
import type { UserRow } from '../accounts/rows.ts'
import { users } from '../accounts/schema.ts'
import { storeFields } from '../accounts/update-profile.ts'
import type { TypedAddress } from '../checkout/address-rules.ts'
import type { ShopContext } from '../context.ts'
import { claimGuestOrders } from './claim-guest-orders.ts'
import { replaceEmail } from './confirm-email-change.ts'
import { storeAddress } from './own-address.ts'

/**
 * Gives an account another email by an operator. The old address gets a notice. Unless the operator vouches for the new
 * address, it is not verified and gets a link. Another spelling of the same mailbox keeps its state.
 *
 * @param email valid, as emailField returns it
 * @throws AppError NOT_FOUND; CONFLICT for an erased account and for an email that another account has or can return to
 */
export function setEmail(
  shop: Pick<ShopContext, 'db' | 'keys'>,
  userId: number,
  { email, isVerified }: { email: string; isVerified: boolean },
  now: number
): UserRow {
  return write(shop.db, (tx) => {
    const user = getUnerasedUser(tx, userId)
    const holder = findUserByEmail(tx, email)
    if (holder !== undefined && holder.id !== userId)
      throw new AppError('CONFLICT', `Account ${holder.id} has this email.`)
    if (isReserved(tx, email, userId, now))
      throw new AppError('CONFLICT', 'Another account had this email and can return to it for 7 days.')
    if (email !== user.email) replaceEmail(tx, user, { email }, now)
    if (isVerified) {
      claimGuestOrders(tx, markVerified(tx, userId, now).user, now)
    } else if (emailKey(email) !== user.emailKey) {
      tx.orm.update(users).set({ emailVerifiedAt: null }).where(eq(users.id, userId)).run()
      queueLink(tx, shop, 'verify', { id: userId, email }, now)
    }
    return getUserById(tx, userId)
  })
}

/** Changes the names of an account by an operator; null removes one. @throws AppError NOT_FOUND, CONFLICT as setEmail */
export function setName(
  db: Db,
  userId: number,
  names: Pick<ProfileInput, 'displayName' | 'firstName' | 'lastName'>,
  now: number
): UserRow {
  return write(db, (tx) => {
    getUnerasedUser(tx, userId)
    storeFields(tx, userId, names, now)
    return getUserById(tx, userId)
  })
}

/**
 * Changes the address of an account by an operator; null removes it. The rules are those of a checkout.
 *
 * @throws AppError NOT_FOUND, CONFLICT as setEmail; VALIDATION_FAILED on `address.<part>`
 */
export function setAddress(db: Db, userId: number, address: TypedAddress | null, now: number): UserRow {
  return write(db, (tx) => {
    getUnerasedUser(tx, userId)
    storeAddress(tx, userId, address, { now })
    return getUserById(tx, userId)
  })
}
