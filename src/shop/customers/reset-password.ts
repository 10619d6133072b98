import type { Caller, UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { hashNewPassword, useEmailLink } from './use-email-link.ts'
import type { LinkInput } from './use-email-link.ts'
import { confirmEmail, takeOverAccount } from './verify-email.ts'

/**
 * Sets a new password by the token of a reset link. Every session of the account ends, and what an intruder may have left
 * is removed (takeOverAccount). The email is confirmed, because only its owner could read the link.
 *
 * @throws AppError TOKEN_INVALID, AUTH_RATE_LIMITED (token_ip), VALIDATION_FAILED without a password,
 *   PASSWORD_POLICY_VIOLATION (the token stays valid)
 */
export function resetPassword(
  shop: ShopContext,
  { token, password }: LinkInput,
  caller: Pick<Caller, 'addressKey'>,
  now: number
): Promise<UserRow> {
  return useEmailLink(
    shop,
    { kind: 'reset', token, caller },
    (user) => hashNewPassword(shop, user, password),
    (tx, { userId }, passwordHash) => {
      takeOverAccount(tx, userId, passwordHash, now)
      return confirmEmail(tx, userId, now)
    },
    now
  )
}
