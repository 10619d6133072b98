import { writeWhenFree } from '../../platform/db/database.ts'
import { createUser, registrationFailed } from '../accounts/create-user.ts'
import { findUserByEmail } from '../accounts/find.ts'
import type { NewAccountInput } from '../accounts/input.ts'
import { assertPassword } from '../accounts/password-rules.ts'
import { queueLink } from '../accounts/email-tokens.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'
import { confirmEmail } from './verify-email.ts'

/**
 * Creates an account for an operator, without accepted terms. If `verified`, the email counts as verified. Otherwise
 * the person gets a verification link if the shop requires verification.
 *
 * @throws AppError PASSWORD_POLICY_VIOLATION, AUTH_REGISTRATION_FAILED when the email is taken
 */
export async function openAccount(
  shop: ShopContext,
  input: NewAccountInput & { password: string; isAdmin: boolean; verified: boolean },
  now: number
): Promise<UserRow> {
  if (findUserByEmail(shop.db, input.email) !== undefined) throw registrationFailed()
  await assertPassword(shop, input.password, input)
  const passwordHash = await shop.passwords.hash(input.password)
  const { email, displayName, firstName, lastName, isAdmin } = input
  const verificationPending = !input.verified && setting(shop.db, 'registration.emailVerification')
  const said = { marketingOptIn: false, termsAcceptedAt: null, privacyAcceptedAt: null }
  const names = { email, displayName, firstName, lastName }
  return writeWhenFree(shop.db, (tx) => {
    const state = { passwordHash, isAdmin, verified: false, verificationPending }
    const user = createUser(tx, { ...names, ...said, ...state }, now)
    if (verificationPending) queueLink(tx, shop, 'verify', user, now)
    return input.verified ? confirmEmail(tx, user.id, now) : user
  })
}
