import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { redeemEmailToken, tokenInvalid } from '../accounts/email-tokens.ts'
import { markVerified } from '../accounts/mark-verified.ts'
import type { Caller, UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { runCountingFailures } from '../limits/counted-attempts.ts'
import { claimGuestOrders } from './claim-guest-orders.ts'

/**
 * Uses a verification token up and confirms the email of its account. The account can then log in; no session starts.
 *
 * @throws AppError TOKEN_INVALID for a token that is unknown, used or expired, AUTH_RATE_LIMITED (token_ip) after too
 *   many of these
 */
export async function verifyEmail(
  shop: ShopContext,
  token: string,
  caller: Pick<Caller, 'addressKey'>,
  now: number
): Promise<UserRow> {
  const { user } = await runCountingFailures(shop, [{ bucket: 'token_ip', key: caller.addressKey }], async () => {
    const verified = await writeWhenFree(shop.db, (tx) => {
      const row = redeemEmailToken(tx, 'verify', token, now)
      return row === undefined ? null : confirmEmail(tx, row.userId, now)
    })
    return { failed: verified === null, user: verified }
  })
  if (user === null) throw tokenInvalid()
  return user
}

/**
 * Records that the email belongs to the account's owner, and moves the orders placed as a guest with it into the
 * account. An account that is already verified stays as it is.
 *
 * @throws AppError NOT_FOUND, CONFLICT for an erased account
 */
export function confirmEmail(db: Db, userId: number, now: number): UserRow {
  return write(db, (tx) => {
    const { user, changed } = markVerified(tx, userId, now)
    if (changed) claimGuestOrders(tx, user, now)
    return user
  })
}
