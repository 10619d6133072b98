import { queueMail } from '../mail/queue.ts'
import { eq } from 'drizzle-orm'
import { importedCost } from '../../platform/crypto/imported-hashes.ts'
import { isUsableHash } from '../../platform/crypto/passwords.ts'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import type { ShopContext } from '../context.ts'
import { getUnerasedUser, findUserById } from './find.ts'
import { endEmailTokens } from './email-tokens.ts'
import { assertPassword } from './password-rules.ts'
import type { UserRow, SessionRow } from './rows.ts'
import { users } from './schema.ts'
import { endUserSessions, startSession } from './sessions.ts'
import { AppError } from '../../errors.ts'
import { countAccountChange } from '../limits/points.ts'
import type { ChangePasswordInput } from './input.ts'
import { invalidCredentials, verifyPassword } from './login.ts'
import type { StartedSession } from './sessions.ts'

/**
 * Replaces the password of an account. All sessions and open links that reset the password or change the
 * email end, and an email notifies the person
 * (ASVS 6.3.7).
 */
export function replacePassword(tx: Tx, userId: number, passwordHash: string, now: number): UserRow {
  return storePassword(tx, getUnerasedUser(tx, userId), { passwordHash }, now)
}

/**
 * Gives an account a new password without its old one, as replacePassword does. It also removes what a person who had
 * taken the account over may have left: the address, and a billing email other than the account's own. The email to the
 * owner names what was removed.
 */
export function resetPasswordOf(tx: Tx, userId: number, passwordHash: string, now: number): UserRow {
  const user = getUnerasedUser(tx, userId)
  const isOther = user.billingEmail !== null && compareKey(user.billingEmail) !== user.emailKey
  const left = { address: null, ...(isOther ? { billingEmail: null } : {}) }
  return storePassword(tx, user, { passwordHash, ...left }, now)
}

type NewFields = Pick<UserRow, 'passwordHash'> & Partial<Pick<UserRow, 'billingEmail' | 'address'>>

const removable = ['address', 'billingEmail'] as const

function storePassword(tx: Tx, user: UserRow, fields: NewFields, now: number): UserRow {
  const changed = { ...user, ...fields, updatedAt: now }
  tx.orm
    .update(users)
    .set({ ...fields, updatedAt: now })
    .where(eq(users.id, user.id))
    .run()
  endUserSessions(tx, user.id)
  endEmailTokens(tx, user.id, now, ['reset'])
  const removed = [
    ...removable.filter((field) => changed[field] !== user[field]),
    ...(endEmailTokens(tx, user.id, now, ['email']) > 0 ? (['emailChange'] as const) : [])
  ]
  queueMail(
    tx,
    {
      template: 'password_changed',
      recipient: user.email,
      data: { userId: user.id, ...(removed.length > 0 ? { removed } : {}) }
    },
    now
  )
  return changed
}

/**
 * Replaces the hash that an account brought from another shop by the one that it has there now. A password that was set
 * or used here since stays.
 *
 * @returns whether it was replaced
 */
export function replaceImportedHash(tx: Tx, userId: number, passwordHash: string): boolean {
  const user = findUserById(tx, userId)
  const isImported = user !== undefined && importedCost(user.passwordHash) !== undefined
  if (!isImported || user.passwordHash === passwordHash || !isUsableHash(passwordHash)) return false
  tx.orm.update(users).set({ passwordHash }).where(eq(users.id, userId)).run()
  return true
}

/**
 * Sets the password of an account for an operator. Another person may have taken the account over.
 *
 * @throws AppError CONFLICT for an erased account, PASSWORD_POLICY_VIOLATION
 */
export async function setPassword(shop: ShopContext, user: UserRow, password: string, now: number): Promise<UserRow> {
  await assertPassword(shop, password, getUnerasedUser(shop.db, user.id))
  const passwordHash = await shop.passwords.hash(password)
  return writeWhenFree(shop.db, (tx) => resetPasswordOf(tx, user.id, passwordHash, now))
}

/**
 * Changes the password of the logged-in user, who must enter the current one. All other sessions end; this one
 * continues with a new token.
 *
 * Wrong passwords count for the session: a client without it cannot use up its allowance.
 *
 * @throws AppError AUTH_RATE_LIMITED (account_change, login_account), AUTH_INVALID_CREDENTIALS, PASSWORD_POLICY_VIOLATION,
 *   NOT_AUTHENTICATED when the account was deactivated in the meantime
 */
export async function changePassword(
  shop: ShopContext,
  input: ChangePasswordInput,
  caller: { readonly identity: { readonly session: SessionRow; readonly user: UserRow } },
  now: number
): Promise<{ user: UserRow; session: StartedSession }> {
  const { user, session } = caller.identity
  // Each change sends an email, to an address that may not be the person's own.
  await countAccountChange(shop, user.id, 'AUTH_RATE_LIMITED')
  await verifyPassword(shop, user, input.currentPassword, [
    { bucket: 'login_account', key: `session:${session.tokenHash}` }
  ])
  await assertPassword(shop, input.newPassword, user)
  const passwordHash = await shop.passwords.hash(input.newPassword)
  return writeWhenFree(shop.db, (tx) => {
    const current = findUserById(tx, user.id)
    if (current?.status !== 'active') throw new AppError('NOT_AUTHENTICATED', 'Please log in.')
    // A concurrent change came first: the checked password is no longer valid.
    if (current.passwordHash !== user.passwordHash) throw invalidCredentials()
    const changed = replacePassword(tx, user.id, passwordHash, now)
    return { user: changed, session: startSession(tx, { userId: user.id, rememberMe: session.rememberMe }, now) }
  })
}
