import { validationFailed } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/email-key.ts'
import { emailCounterKey, takePoints } from '../limits/points.ts'
import { createUser } from '../accounts/create-user.ts'
import type { NewUser } from '../accounts/create-user.ts'
import { findUserByEmail } from '../accounts/find.ts'
import { checkPassword } from '../accounts/password-rules.ts'
import { queueLink } from '../accounts/queue-link.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'
import type { CheckoutBody } from './input.ts'

/** An account that a guest asks for along with the order. */
export type AccountWish = { email: string; password: string; displayName: string; names: Names }
type Names = { firstName: string | null; lastName: string | null }

/**
 * Reads the wish for an account; null when there is none or the shop grants none. Of a customer who is logged in it is
 * not asked.
 *
 * @throws AppError VALIDATION_FAILED on customer.email and customer.password; the password by the same rules as at
 *   registration
 */
export async function readAccountWish(
  shop: ShopContext,
  customer: CheckoutBody['customer'],
  email: string | null
): Promise<AccountWish | null> {
  if (customer?.createAccount !== true || !setting(shop.db, 'checkout.accountCreation')) return null
  if (email === null) throw validationFailed({ 'customer.email': ['Is required for an account.'] })
  const { password = '', firstName = null, lastName = null } = customer
  if (password === '') throw validationFailed({ 'customer.password': ['Is required for an account.'] })
  const displayName = displayNameOf(email, [firstName, lastName])
  const broken = await checkPassword(password, {
    email,
    displayName,
    shopName: setting(shop.db, 'shop.name'),
    minLength: setting(shop.db, 'registration.passwordMinLength')
  })
  if (broken.length > 0) {
    throw validationFailed(
      { 'customer.password': ['Must be longer and harder to guess.'] },
      'This password is too weak.'
    )
  }
  return { email, password, displayName, names: { firstName, lastName } }
}

/** The name if there is one, within a display name's length, else the email's local part. */
function displayNameOf(email: string, names: readonly (string | null)[]): string {
  const name = names.filter((part) => part !== null).join(' ')
  const [local = ''] = email.split('@')
  return Array.from(name === '' ? local : name)
    .slice(0, 100)
    .join('')
    .trim()
}

/**
 * Does the slow part before the transaction. Asking for accounts tells which emails have one, so it counts as
 * registering does.
 *
 * @throws AppError RATE_LIMITED, VALIDATION_FAILED when the email is taken
 */
export async function prepareAccount(shop: ShopContext, wish: AccountWish, addressKey: string): Promise<NewUser> {
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'register_ip', key: addressKey })
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'register_email', key: emailCounterKey(emailKey(wish.email)) })
  if (findUserByEmail(shop.db, wish.email) !== undefined) throw emailTaken()
  return {
    email: wish.email,
    displayName: wish.displayName,
    passwordHash: await shop.passwords.hash(wish.password),
    ...wish.names,
    marketingOptIn: false,
    verified: false,
    verificationPending: setting(shop.db, 'registration.emailVerification'),
    termsAcceptedAt: null,
    privacyAcceptedAt: null
  }
}

/**
 * Makes the account, and sends the link where its email has to be verified first.
 *
 * @throws AppError VALIDATION_FAILED when somebody took the email meanwhile
 */
export function makeAccount(tx: Tx, shop: Pick<ShopContext, 'keys'>, account: NewUser, now: number): UserRow {
  if (findUserByEmail(tx, account.email) !== undefined) throw emailTaken()
  const user = createUser(tx, account, now)
  if (user.verificationPending) queueLink(tx, shop, 'verify', user, now)
  return user
}

function emailTaken() {
  return validationFailed({ 'customer.email': ['Cannot be used for a new account.'] })
}
