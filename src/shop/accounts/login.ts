import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { compareKey } from '../../platform/text.ts'
import type { ShopContext } from '../context.ts'
import { countFailures } from '../limits/attempts.ts'
import { emailCounterKey } from '../limits/points.ts'
import type { Counter } from '../limits/points.ts'
import { findUserByEmail, findUserByUsername, getUserById } from './find.ts'
import type { LoginInput } from './input.ts'
import { checkNonce } from './nonce.ts'
import type { Caller, UserRow } from './rows.ts'
import { users } from './schema.ts'
import { endSession, startSession } from './sessions.ts'
import type { StartedSession } from './sessions.ts'

/**
 * Starts a session for whoever knows the password, and ends the one that the request came with.
 *
 * An unknown account costs the same work as a wrong password and gets the same answer. That an account is deactivated or
 * not verified is told only after a right password.
 *
 * @throws AppError AUTH_RATE_LIMITED (login_ip, login_account), AUTH_INVALID_CREDENTIALS, AUTH_ACCOUNT_DEACTIVATED and
 *   AUTH_EMAIL_NOT_VERIFIED, in this order; DEPENDENCY_UNAVAILABLE when too many logins are under way
 */
export async function login(
  shop: ShopContext,
  input: LoginInput,
  caller: Caller,
  now: number
): Promise<{ user: UserRow; session: StartedSession }> {
  const user = await verifyPassword(shop, findAccount(shop, input), input.password, [
    { bucket: 'login_ip', key: caller.addressKey },
    { bucket: 'login_account', key: nameCounter(input) }
  ])
  assertMayLogIn(user)
  const newHash = await rehash(shop, user, input.password)
  const started = await writeWhenFree(shop.db, (tx) => {
    const current = getUserById(tx, user.id)
    if (current.passwordHash !== user.passwordHash) return null
    assertMayLogIn(current)
    if (newHash !== null) storeHash(tx, user.id, newHash, now)
    if (caller.identity !== null) endSession(tx, caller.identity.session.tokenHash)
    const startNonce = goodNonce(shop, caller, now)
    const session = startSession(tx, { userId: user.id, rememberMe: input.rememberMe, startNonce }, now)
    return { user: getUserById(tx, user.id), session }
  })
  // Changed, or rehashed by another login, since it was checked: so it is checked again.
  return started ?? login(shop, input, caller, now)
}

/** A username may be an email; an email wins when both are sent. */
function findAccount(shop: ShopContext, { email, username }: LoginInput): UserRow | undefined {
  if (email !== null) return findUserByEmail(shop.db, email)
  if (username === null) return undefined
  return username.includes('@') ? findUserByEmail(shop.db, username) : findUserByUsername(shop.db, username)
}

/**
 * What was typed is what is counted, whether an account has that name or none. Were the email and the username of an
 * account one counter, using up the one and asking by the other would tell that there is an account; so each has its own
 * tries.
 */
function nameCounter({ email, username }: LoginInput): string {
  return emailCounterKey(compareKey(email ?? username ?? ''))
}

/**
 * Checks a password, counting a wrong one.
 *
 * @throws AppError AUTH_INVALID_CREDENTIALS for a wrong password and for no account alike
 */
export async function verifyPassword(
  shop: ShopContext,
  user: UserRow | undefined,
  password: string,
  counters: readonly Counter[]
): Promise<UserRow> {
  const { failed } = await countFailures(shop, counters, async () => {
    const right =
      user === undefined
        ? await shop.passwords.verifyNothing(password)
        : await shop.passwords.verify(user.passwordHash, password)
    return { failed: !right }
  })
  if (failed || user === undefined) throw invalidCredentials()
  return user
}

function assertMayLogIn(user: UserRow): void {
  if (user.status !== 'active') {
    throw new AppError('AUTH_ACCOUNT_DEACTIVATED', 'This account has been deactivated.')
  }
  if (user.verificationPending) {
    throw new AppError('AUTH_EMAIL_NOT_VERIFIED', 'Please verify your email first: the link is in the message we sent.')
  }
}

/** AUTH_INVALID_CREDENTIALS, the same for an unknown user and a wrong password. */
export function invalidCredentials(): AppError {
  return new AppError('AUTH_INVALID_CREDENTIALS', 'The username, the email or the password is wrong.')
}

/** The hash anew when it was made with other parameters than today's; null when it is as it should be. */
async function rehash(shop: ShopContext, user: UserRow, password: string): Promise<string | null> {
  return shop.passwords.needsRehash(user.passwordHash) ? shop.passwords.hash(password) : null
}

/** Stores a new password hash. */
export function storeHash(tx: Tx, userId: number, passwordHash: string, now: number): void {
  tx.orm.update(users).set({ passwordHash, updatedAt: now }).where(eq(users.id, userId)).run()
}

/** The service asks for no nonce at login, so one that came along stays good only when it was good. */
function goodNonce(shop: ShopContext, { nonce, identity }: Caller, now: number): string | null {
  if (nonce === null) return null
  const bearer = {
    sessionTokenHash: identity?.session.tokenHash ?? null,
    startNonceHash: identity?.session.startNonceHash ?? null
  }
  return checkNonce(shop.keys, nonce, bearer, now) ? nonce : null
}
