import { writeWhenFree } from '../../platform/db/busy.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'
import { createUser, registrationFailed } from './create-user.ts'
import { findUserByEmail } from './find.ts'
import type { NewAccountInput } from './input.ts'
import { assertPassword } from './password-rules.ts'
import { queueLink } from './queue-link.ts'
import type { UserRow } from './rows.ts'
import { markVerified } from './verify-email.ts'
import type { OnVerified } from './verify-email.ts'

/**
 * Makes an account for someone, as an operator does: nobody accepted any terms, and unless the email is known to be right
 * the shop's rule on verification holds.
 *
 * @throws AppError PASSWORD_POLICY_VIOLATION, AUTH_REGISTRATION_FAILED when the email is taken
 */
export async function openAccount(
  shop: ShopContext,
  input: NewAccountInput & { password: string; isAdmin: boolean; verified: boolean },
  now: number,
  onVerified: OnVerified
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
    return input.verified ? markVerified(tx, user.id, now, onVerified) : user
  })
}
