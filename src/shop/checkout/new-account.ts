import { validationFailed } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/text.ts'
import { emailCounterKey, takePoints } from '../limits/points.ts'
import { createUser, displayNameOf } from '../accounts/create-user.ts'
import type { NewUser } from '../accounts/create-user.ts'
import { findUserByEmail } from '../accounts/find.ts'
import { checkPassword } from '../accounts/password-rules.ts'
import { queueLink } from '../accounts/email-tokens.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'
import type { CheckoutBody } from './input.ts'

/** An account that a guest creates together with the order. */
export type AccountRequest = { email: string; password: string; displayName: string; names: Names }
type Names = { firstName: string | null; lastName: string | null }

/**
 * Reads and checks a guest's request for an account; null without a request or when the shop does not allow it. The
 * password rules are those of registration.
 *
 * @throws AppError VALIDATION_FAILED (customer.email, customer.password)
 */
export async function readAccountRequest(
  shop: ShopContext,
  customer: CheckoutBody['customer'],
  email: string | null
): Promise<AccountRequest | null> {
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

/**
 * Hashes the password before the transaction, also for an email that has an account: the answer must not tell, and it
 * takes as long. A request counts against the limits of registration.
 *
 * @throws AppError RATE_LIMITED
 */
export async function prepareAccount(shop: ShopContext, request: AccountRequest, addressKey: string): Promise<NewUser> {
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'register_ip', key: addressKey })
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'register_email', key: emailCounterKey(emailKey(request.email)) })
  return {
    email: request.email,
    displayName: request.displayName,
    passwordHash: await shop.passwords.hash(request.password),
    ...request.names,
    marketingOptIn: false,
    verified: false,
    verificationPending: setting(shop.db, 'registration.emailVerification'),
    termsAcceptedAt: null,
    privacyAcceptedAt: null
  }
}

/**
 * Creates the account, and queues the verification link if the shop verifies emails. Null for an email that has an account:
 * its order is that of a guest, and the account gets it by the link of an email.
 */
export function makeAccount(
  tx: Tx,
  shop: Pick<ShopContext, 'keys' | 'language'>,
  account: NewUser,
  now: number
): UserRow | null {
  if (findUserByEmail(tx, account.email) !== undefined) return null
  const user = createUser(tx, { ...account, language: shop.language }, now)
  if (user.verificationPending) queueLink(tx, shop, 'verify', user, now)
  return user
}
