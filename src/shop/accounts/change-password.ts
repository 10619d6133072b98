import { AppError } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { ShopContext } from '../context.ts'
import { countAccountChange } from '../limits/points.ts'
import { findUserById } from './find.ts'
import type { ChangePasswordInput } from './input.ts'
import { invalidCredentials, verifyPassword } from './login.ts'
import { assertPassword } from './password-rules.ts'
import type { SessionRow, UserRow } from './rows.ts'
import { startSession } from './sessions.ts'
import type { StartedSession } from './sessions.ts'
import { replacePassword } from './set-password.ts'

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
