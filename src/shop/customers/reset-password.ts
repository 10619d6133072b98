import { writeWhenFree } from '../../platform/db/database.ts'
import { findUsableToken, redeemEmailToken, tokenInvalid } from '../accounts/email-tokens.ts'
import { getUserById } from '../accounts/find.ts'
import type { ResetPasswordInput } from '../accounts/input.ts'
import { assertPassword } from '../accounts/password-rules.ts'
import type { Caller, UserRow } from '../accounts/rows.ts'
import { resetPasswordOf } from '../accounts/set-password.ts'
import type { ShopContext } from '../context.ts'
import { runCountingFailures } from '../limits/counted-attempts.ts'
import { confirmEmail } from './verify-email.ts'

/**
 * Sets a new password by the token of a reset link. Every session of the account ends, and a billing email other than
 * the account's own is removed. The email is confirmed, because only its owner could read the link.
 *
 * @throws AppError TOKEN_INVALID, AUTH_RATE_LIMITED (token_ip), PASSWORD_POLICY_VIOLATION (the token stays valid)
 */
export async function resetPassword(
  shop: ShopContext,
  input: ResetPasswordInput,
  caller: Pick<Caller, 'addressKey'>,
  now: number
): Promise<UserRow> {
  const { row } = await runCountingFailures(shop, [{ bucket: 'token_ip', key: caller.addressKey }], async () => {
    const found = findUsableToken(shop.db, 'reset', input.token, now)
    return { failed: found === undefined, row: found }
  })
  if (row === undefined) throw tokenInvalid()
  await assertPassword(shop, input.password, getUserById(shop.db, row.userId))
  const passwordHash = await shop.passwords.hash(input.password)
  return writeWhenFree(shop.db, (tx) => {
    if (redeemEmailToken(tx, 'reset', input.token, now) === undefined) throw tokenInvalid()
    resetPasswordOf(tx, row.userId, passwordHash, now)
    return confirmEmail(tx, row.userId, now)
  })
}
