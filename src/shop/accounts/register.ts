import { countVisitor } from '../limits/visitors.ts'
import { AppError, validationFailed } from '../../errors.ts'
import type { FieldErrors } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/text.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'
import { emailCounterKey, takePoints } from '../limits/points.ts'
import { createUser, registrationFailed } from './create-user.ts'
import { findUserByEmail } from './find.ts'
import type { RegisterInput } from './input.ts'
import { assertPassword } from './password-rules.ts'
import { queueLink } from './email-tokens.ts'
import type { Caller, UserRow } from './rows.ts'
import { endSession, startSession } from './sessions.ts'
import type { StartedSession } from './sessions.ts'

/** The result: logged in, or waiting until `expiresAt` for the email to be verified. */
export type Registration =
  | { readonly user: UserRow; readonly session: StartedSession; readonly expiresAt: null }
  | { readonly user: UserRow; readonly session: null; readonly expiresAt: number }

/** How far a client's clock may be fast. */
const maxAheadMs = 24 * 60 * 60_000

/** Checks the setting registration.enabled, before the body is read. @throws AppError AUTH_REGISTRATION_DISABLED */
export function assertRegistrationOpen(shop: Pick<ShopContext, 'db'>): void {
  if (!setting(shop.db, 'registration.enabled')) {
    throw new AppError('AUTH_REGISTRATION_DISABLED', 'Registration is currently disabled in this shop.')
  }
}

/**
 * Creates an account from a registration and starts its session, or queues the verification email if the shop requires
 * verification. `caller.nonce` has been checked and stays valid for the session.
 *
 * @param onCreated is part of the transaction that creates the account
 * @throws AppError VALIDATION_FAILED, AUTH_RATE_LIMITED (register_ip, register_email), PASSWORD_POLICY_VIOLATION and
 *   AUTH_REGISTRATION_FAILED, in this order; INTERNAL_SERVER_ERROR when the account was created but not logged in
 */
export async function register(
  shop: ShopContext,
  input: RegisterInput,
  caller: Caller,
  now: number,
  onCreated: (tx: Tx, user: UserRow) => void = () => undefined
): Promise<Registration> {
  assertRegistrationOpen(shop)
  assertTimes(input, now)
  await takePoints(shop, 'AUTH_RATE_LIMITED', { bucket: 'register_ip', key: caller.addressKey })
  await takePoints(shop, 'AUTH_RATE_LIMITED', {
    bucket: 'register_email',
    key: emailCounterKey(emailKey(input.email))
  })
  await assertPassword(shop, input.password, input)
  // The status reveals a taken email in any case, so this refuses it before the expensive hash.
  if (findUserByEmail(shop.db, input.email) !== undefined) throw registrationFailed()
  const passwordHash = await shop.passwords.hash(input.password)
  const pending = setting(shop.db, 'registration.emailVerification')
  const created = await writeWhenFree(shop.db, (tx) => {
    const account = createAccount(tx, shop, { ...input, passwordHash, pending }, now)
    onCreated(tx, account.user)
    return account
  })
  if (caller.identity === null) await countVisitor(shop, caller.addressKey)
  if (created.expiresAt !== null) return { ...created, session: null, expiresAt: created.expiresAt }
  return { user: created.user, session: await logIn(shop, created.user, caller, now), expiresAt: null }
}

function createAccount(
  tx: Tx,
  shop: ShopContext,
  input: RegisterInput & { passwordHash: string; pending: boolean },
  now: number
): { user: UserRow; expiresAt: number | null } {
  const user = createUser(
    tx,
    {
      email: input.email,
      displayName: input.displayName,
      passwordHash: input.passwordHash,
      firstName: input.firstName,
      lastName: input.lastName,
      marketingOptIn: input.marketingOptIn,
      language: shop.language,
      verified: false,
      verificationPending: input.pending,
      termsAcceptedAt: Math.min(input.termsAcceptedAt ?? now, now),
      privacyAcceptedAt: input.privacyAcceptedAt === null ? null : Math.min(input.privacyAcceptedAt, now)
    },
    now
  )
  if (!input.pending) return { user, expiresAt: null }
  return { user, expiresAt: queueLink(tx, shop, 'verify', user, now).expiresAt }
}

/** Runs in a separate transaction: the account must stay even if this fails (docs/interface.md 7.1, status 500). */
async function logIn(shop: ShopContext, user: UserRow, caller: Caller, now: number): Promise<StartedSession> {
  try {
    return await writeWhenFree(shop.db, (tx) => {
      if (caller.identity !== null) endSession(tx, caller.identity.session.tokenHash)
      return startSession(tx, { userId: user.id, rememberMe: false, startNonce: caller.nonce }, now)
    })
  } catch (cause) {
    const message = 'Your account was created, but you could not be logged in. Please log in.'
    throw new AppError('INTERNAL_SERVER_ERROR', message, {}, { cause })
  }
}

function assertTimes(input: RegisterInput, now: number): void {
  const errors: FieldErrors = {}
  for (const field of ['termsAcceptedAt', 'privacyAcceptedAt'] as const) {
    if ((input[field] ?? now) - now > maxAheadMs) errors[field] = ['Must not be more than a day in the future.']
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors)
}
